-- worker, now, detail when held, detail when queued again
local worker, now = ARGV[1], ARGV[2]
local queued, held = 0, 0
for _, member in ipairs(redis.call('ZRANGE', P .. 'sending', 0, -1)) do
  local lead, target = string.match(member, '^(%S+) (.+)$')
  local found = redis.call('HMGET', delivery_key(lead, target), 'worker', 'lease_until', 'transmitting', 'deployment')
  local dead = found[1] ~= worker and redis.call('EXISTS', P .. 'alive:' .. found[1]) == 0
  if dead or tonumber(found[2]) <= tonumber(now) then
    local state, detail = 'queued', ARGV[4]
    if found[3] == '1' then state, detail = 'held', ARGV[3] end
    put(lead, target, found[4], state, now, detail, now)
    note(lead, target, state, detail, now)
    if state == 'held' then held = held + 1 else queued = queued + 1 end
  end
end
return { queued, held }
