-- worker, now, detail when held, detail when queued again, seconds after which a silent process is dead
local worker, now = ARGV[1], ARGV[2]
-- A Redis that stood still lets every sign of life run out at once, so only who has seen enough of them since
-- may judge others.
local since = redis.call('GET', P .. 'alive:' .. worker)
local judges = since and tonumber(redis.call('TIME')[1]) - tonumber(since) >= tonumber(ARGV[5])
local queued, held = 0, 0
for _, member in ipairs(redis.call('ZRANGE', P .. 'sending', 0, -1)) do
  local lead, target = string.match(member, '^(%S+) (.+)$')
  local found = redis.call('HMGET', delivery_key(lead, target), 'worker', 'lease_until', 'transmitting', 'deployment')
  local silent = judges and redis.call('EXISTS', P .. 'alive:' .. found[1]) == 0
  local dead = found[1] ~= worker and (silent or redis.call('EXISTS', P .. 'gone:' .. found[1]) == 1)
  if dead or tonumber(found[2]) <= tonumber(now) then
    local state, detail = 'queued', ARGV[4]
    if found[3] == '1' then state, detail = 'held', ARGV[3] end
    put(lead, target, found[4], state, now, detail, now)
    note(lead, target, state, detail, now)
    if state == 'held' then held = held + 1 else queued = queued + 1 end
  end
end
return { queued, held }
