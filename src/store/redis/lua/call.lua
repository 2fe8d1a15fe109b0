-- now, issuer, key, namespace, claim, expires_at
local now = tonumber(ARGV[1])
local session = KEYS[1] .. 'session:' .. #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
local found = redis.call('HMGET', session, 'expires_at', 'ended')
if found[2] == '1' and tonumber(found[1]) > now then return 'ended' end
local claim = KEYS[1] .. 'claim:' .. #ARGV[4] .. ':' .. ARGV[4] .. ':' .. ARGV[5]
local stands = redis.call('GET', claim)
if stands and tonumber(stands) > now then return 'used' end
redis.call('SET', claim, ARGV[6], 'PX', string.format('%.0f', math.max(1, tonumber(ARGV[6]) - now)))
return 'passed'
