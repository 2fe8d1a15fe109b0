-- lead, target, worker, attempt, now
local key = delivery_key(ARGV[1], ARGV[2])
if not holds(ARGV[1], ARGV[2], ARGV[3], ARGV[4]) then return 0 end
if tonumber(redis.call('HGET', key, 'lease_until')) <= tonumber(ARGV[5]) then return 0 end
redis.call('HSET', key, 'transmitting', '1', 'updated_at', ARGV[5])
return 1
