-- member, token of a new repair, token that the phase belongs to, phase reached, seconds after which a member
-- that was not seen needs not be waited for, (member)*
-- Answers: whether the gate stands open now, this repair's token, the least phase, own phase, members behind it.
local member, fresh, token, phase, forget = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local now, id = tonumber(redis.call('TIME')[1]), replid()
if redis.call('GET', P .. 'gate') == id then return { '1', '', '2', '2' } end
local repair = P .. 'repair'
local current = redis.call('HGET', repair, 'of')
if current ~= id then
  redis.call('DEL', repair, P .. 'repair_phases', P .. 'repair_members', P .. 'repair_excused')
  redis.call('HSET', repair, 'of', id, 'token', fresh)
end
local now_token = redis.call('HGET', repair, 'token')
local function waits_for(other, seen)
  if seen and now - tonumber(seen) > forget then return end
  if redis.call('SISMEMBER', P .. 'repair_excused', other) == 0 then redis.call('SADD', P .. 'repair_members', other) end
end
redis.call('SREM', P .. 'repair_excused', member)
waits_for(member, false)
for at = 6, #ARGV do waits_for(ARGV[at], redis.call('HGET', P .. 'members', ARGV[at])) end
local seen = redis.call('HGETALL', P .. 'members')
for at = 1, #seen, 2 do waits_for(seen[at], seen[at + 1]) end
if token == now_token then redis.call('HSET', P .. 'repair_phases', member, phase) end
local own = redis.call('HGET', P .. 'repair_phases', member) or '0'
local least, behind = 2, {}
local members = redis.call('SMEMBERS', P .. 'repair_members')
for _, other in ipairs(members) do
  local reached = tonumber(redis.call('HGET', P .. 'repair_phases', other) or '0')
  if reached < least then least, behind = reached, {} end
  if reached == least and least < 2 then table.insert(behind, other) end
end
if least == 2 then
  redis.call('SET', P .. 'gate', id)
  for _, other in ipairs(members) do
    if redis.call('HEXISTS', P .. 'members', other) == 0 then
      redis.call('HSET', P .. 'members', other, now)
      redis.call('HSET', P .. 'joined', other, redis.call('INCR', P .. 'version'))
    end
  end
  redis.call('DEL', repair, P .. 'repair_phases', P .. 'repair_members', P .. 'repair_excused')
  return { '1', now_token, '2', own }
end
return { '0', now_token, tostring(least), own, unpack(behind) }
