-- member, version of the members' list that it has written down, seconds after which a member counts as away
local member, known, away = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now = tonumber(redis.call('TIME')[1])
if redis.call('GET', P .. 'gate') ~= replid() then return { '0', '0', '0' } end
if redis.call('HEXISTS', P .. 'members', member) == 0 then
  local version = redis.call('INCR', P .. 'version')
  redis.call('HSET', P .. 'joined', member, version)
end
redis.call('HSET', P .. 'members', member, now)
redis.call('HSET', P .. 'acks', member, known)
local joined = tonumber(redis.call('HGET', P .. 'joined', member) or '0')
local settled = '1'
local answer = { '1', '', redis.call('GET', P .. 'version') or '0' }
local seen = redis.call('HGETALL', P .. 'members')
for at = 1, #seen, 2 do
  local acknowledged = tonumber(redis.call('HGET', P .. 'acks', seen[at]) or '0')
  if now - tonumber(seen[at + 1]) <= away and acknowledged < joined then settled = '0' end
  table.insert(answer, seen[at])
end
answer[2] = settled
return answer
