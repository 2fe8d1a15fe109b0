-- worker, milliseconds until it counts as dead
-- The value tells since when it has been alive without a break.
local key = P .. 'alive:' .. ARGV[1]
if redis.call('EXISTS', key) == 1 then
  redis.call('PEXPIRE', key, ARGV[2])
else
  redis.call('SET', key, redis.call('TIME')[1], 'PX', ARGV[2])
end
return 1
