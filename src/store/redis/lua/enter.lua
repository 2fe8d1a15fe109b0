-- now, issuer, key, owner, expires_at
local now = tonumber(ARGV[1])
local name = KEYS[1] .. 'session:' .. #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3]
local found = redis.call('HMGET', name, 'expires_at', 'ended', 'owner')
if found[1] and tonumber(found[1]) > now then
  if found[2] == '1' then return 'ended' end
  if found[3] ~= ARGV[4] then return 'foreign' end
end
redis.call('HSET', name, 'owner', ARGV[4], 'ended', '0', 'expires_at', ARGV[5])
redis.call('PEXPIRE', name, string.format('%.0f', math.max(1, tonumber(ARGV[5]) - now)))
return 'owned'
