-- lead, target, attempt, state, detail, now, worker
-- What a process knows of a delivery that Redis may have forgotten. Never undoes an end or a later attempt.
local key = delivery_key(ARGV[1], ARGV[2])
local found = redis.call('HMGET', key, 'state', 'attempts', 'deployment', 'worker')
if not found[1] or found[1] == 'delivered' or found[1] == 'refused' then return 0 end
if found[1] == ARGV[4] or tonumber(found[2]) > tonumber(ARGV[3]) then return 0 end
-- An attempt without an end that is in this very process's hands is simply under way.
if ARGV[4] == 'held' and found[1] == 'sending' and found[4] == ARGV[7] then return 0 end
redis.call('HSET', key, 'attempts', ARGV[3])
put(ARGV[1], ARGV[2], found[3], ARGV[4], '', ARGV[5], ARGV[6])
note(ARGV[1], ARGV[2], ARGV[4], ARGV[5], ARGV[6])
return 1
