-- lead, deployment, dealer, accepted_at, record, answer, key, fingerprint, expires_at, ttl, count of deliveries,
-- whether a journal says it, (target, state, due_at, attempts, updated_at, detail)*, (target, number, at, state, detail)*
local lead, deployment = ARGV[1], ARGV[2]
if redis.call('EXISTS', P .. 'lead:' .. lead) == 1 then return 0 end
-- A journal may hold what was erased, or what Redis never took because its key stood.
if ARGV[12] == '1' then
  if redis.call('ZSCORE', P .. 'erased', lead) then return 0 end
  if ARGV[7] ~= '' and redis.call('EXISTS', P .. 'key:' .. ARGV[7]) == 1 then return 0 end
end
redis.call('HSET', P .. 'lead:' .. lead, 'accepted_at', ARGV[4])
local targets, at = {}, 13
for _ = 1, tonumber(ARGV[11]) do
  table.insert(targets, ARGV[at])
  put(lead, ARGV[at], deployment, ARGV[at + 1], ARGV[at + 2], ARGV[at + 5], ARGV[at + 4])
  redis.call('HSET', delivery_key(lead, ARGV[at]), 'attempts', ARGV[at + 3])
  at = at + 6
end
while at <= #ARGV do
  redis.call('RPUSH', P .. 'attempts:' .. lead, ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
  at = at + 5
end
redis.call('HSET', P .. 'lead:' .. lead, 'deployment', deployment, 'dealer', ARGV[3], 'accepted_at', ARGV[4],
  'record', ARGV[5], 'answer', ARGV[6], 'key', ARGV[7], 'targets', table.concat(targets, ' '))
redis.call('ZADD', P .. 'leads', ARGV[4], lead)
local key = P .. 'key:' .. ARGV[7]
if ARGV[7] ~= '' and redis.call('EXISTS', key) == 0 then
  redis.call('HSET', key, 'expires_at', ARGV[9], 'fingerprint', ARGV[8], 'lead_id', lead, 'answer', ARGV[6])
  redis.call('PEXPIRE', key, ARGV[10])
end
return 1
