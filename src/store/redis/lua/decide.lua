-- lead, target, state, due_at, detail, now, (from)*
local found = redis.call('HMGET', delivery_key(ARGV[1], ARGV[2]), 'state', 'deployment')
local expected = false
for at = 7, #ARGV do expected = expected or ARGV[at] == found[1] end
if not expected then return 0 end
put(ARGV[1], ARGV[2], found[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
note(ARGV[1], ARGV[2], ARGV[3], ARGV[5], ARGV[6])
return 1
