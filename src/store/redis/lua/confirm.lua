-- whether it is meant
-- An operator says that those who are waited for have nothing more to restore. Answers who they are.
if redis.call('GET', P .. 'gate') == replid() then return {} end
local least, behind = 2, {}
for _, other in ipairs(redis.call('SMEMBERS', P .. 'repair_members')) do
  local reached = tonumber(redis.call('HGET', P .. 'repair_phases', other) or '0')
  if reached < least then least, behind = reached, {} end
  if reached == least and least < 2 then table.insert(behind, other) end
end
if ARGV[1] == '1' then
  for _, other in ipairs(behind) do
    redis.call('SADD', P .. 'repair_excused', other)
    redis.call('SREM', P .. 'repair_members', other)
    redis.call('HDEL', P .. 'members', other)
  end
end
return { 'closed', unpack(behind) }
