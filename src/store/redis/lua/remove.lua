-- now, (lead)*
-- That a lead was erased is remembered until every journal has forgotten it, too.
local removed = 0
redis.call('ZREMRANGEBYSCORE', P .. 'erased', '-inf', string.format('%.0f', tonumber(ARGV[1]) - 5184000000))
for at = 2, #ARGV do
  local lead = ARGV[at]
  redis.call('ZADD', P .. 'erased', ARGV[1], lead)
  local found = redis.call('HMGET', P .. 'lead:' .. lead, 'deployment', 'targets')
  if found[1] then
    for target in string.gmatch(found[2], '%S+') do
      local key = delivery_key(lead, target)
      local state = redis.call('HGET', key, 'state')
      redis.call('ZREM', state_key(found[1], state), lead .. ' ' .. target)
      redis.call('ZREM', open_key(found[1]), lead .. ' ' .. target)
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
