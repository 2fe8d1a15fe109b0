-- lead, target, worker, attempt, state, due_at, detail, now
local found = redis.call('HMGET', delivery_key(ARGV[1], ARGV[2]), 'deployment', 'state', 'attempts')
-- Who took the job for orphaned could not know how it ended; whoever carried it out does.
local ends = ARGV[5] == 'delivered' or ARGV[5] == 'refused'
local known_late = ends and found[2] == 'held' and found[3] == ARGV[4]
if not known_late and not holds(ARGV[1], ARGV[2], ARGV[3], ARGV[4]) then return 0 end
put(ARGV[1], ARGV[2], found[1], ARGV[5], ARGV[6], ARGV[7], ARGV[8])
note(ARGV[1], ARGV[2], ARGV[5], ARGV[7], ARGV[8])
return 1
