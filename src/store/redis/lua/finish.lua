-- lead, target, worker, attempt, state, due_at, detail, now
if not holds(ARGV[1], ARGV[2], ARGV[3], ARGV[4]) then return 0 end
local deployment = redis.call('HGET', delivery_key(ARGV[1], ARGV[2]), 'deployment')
put(ARGV[1], ARGV[2], deployment, ARGV[5], ARGV[6], ARGV[7], ARGV[8])
note(ARGV[1], ARGV[2], ARGV[5], ARGV[7], ARGV[8])
return 1
