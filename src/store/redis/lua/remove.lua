-- lead*
local removed = 0
for _, lead in ipairs(ARGV) do
  local found = redis.call('HMGET', P .. 'lead:' .. lead, 'deployment', 'targets')
  if found[1] then
    for target in string.gmatch(found[2], '%S+') do
      local key = delivery_key(lead, target)
      local state = redis.call('HGET', key, 'state')
      redis.call('ZREM', state_key(found[1], state), lead .. ' ' .. target)
      redis.call('ZREM', P .. 'sending', lead .. ' ' .. target)
      redis.call('ZREM', due_key(found[1], target), lead)
      redis.call('DEL', key)
    end
    redis.call('DEL', P .. 'lead:' .. lead, P .. 'attempts:' .. lead)
    redis.call('ZREM', P .. 'leads', lead)
    removed = removed + 1
  end
end
return removed
