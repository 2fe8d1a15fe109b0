-- now, issuer, key, expires_at
local now = tonumber(ARGV[1])
local name = KEYS[1] .. 'session:' .. #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
local ended = KEYS[1] .. 'ended:' .. ARGV[2]
redis.call('HSETNX', name, 'owner', '')
redis.call('HSET', name, 'ended', '1', 'expires_at', ARGV[4])
redis.call('PEXPIRE', name, string.format('%.0f', math.max(1, tonumber(ARGV[4]) - now)))
redis.call('ZREMRANGEBYSCORE', ended, '-inf', ARGV[1])
redis.call('ZADD', ended, ARGV[4], ARGV[3])
return 1
