-- key, expires_at, fingerprint, lead, deployment, dealer, accepted_at, record, answer, now, member,
-- (target, due_at)*
if not whole(ARGV[11]) then return { 'closed' } end
local key, expires_at, now = P .. 'key:' .. ARGV[1], ARGV[2], ARGV[10]
local found = redis.call('HMGET', key, 'expires_at', 'fingerprint', 'lead_id', 'answer')
if found[1] and tonumber(found[1]) > tonumber(now) then
  return { found[2], found[3], found[4] }
end
local lead, deployment = ARGV[4], ARGV[5]
redis.call('HSET', key, 'expires_at', expires_at, 'fingerprint', ARGV[3], 'lead_id', lead, 'answer', ARGV[9])
redis.call('PEXPIRE', key, string.format('%.0f', math.max(1, tonumber(expires_at) - tonumber(now))))
local targets = {}
for at = 12, #ARGV, 2 do
  table.insert(targets, ARGV[at])
  put(lead, ARGV[at], deployment, 'queued', ARGV[at + 1], '', now)
end
redis.call('HSET', P .. 'lead:' .. lead, 'deployment', deployment, 'dealer', ARGV[6], 'accepted_at', ARGV[7],
  'record', ARGV[8], 'answer', ARGV[9], 'key', ARGV[1], 'targets', table.concat(targets, ' '))
redis.call('ZADD', P .. 'leads', ARGV[7], lead)
return {}
