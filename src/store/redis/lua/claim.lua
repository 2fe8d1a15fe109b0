-- now, (namespace, key, expires_at)*
local P, now = KEYS[1], tonumber(ARGV[1])
local function name(at) return P .. 'claim:' .. #ARGV[at] .. ':' .. ARGV[at] .. ':' .. ARGV[at + 1] end
for at = 2, #ARGV, 3 do
  local stands = redis.call('GET', name(at))
  if stands and tonumber(stands) > now then return 0 end
end
for at = 2, #ARGV, 3 do
  local ttl = math.max(1, tonumber(ARGV[at + 2]) - now)
  redis.call('SET', name(at), ARGV[at + 2], 'PX', string.format('%.0f', ttl))
end
return 1
