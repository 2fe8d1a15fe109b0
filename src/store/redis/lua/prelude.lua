-- What every script of the lead store begins with. KEYS[1] is the prefix of all keys; its hash tag keeps
-- them in one slot, so each script is one atomic step in a cluster too. Times are milliseconds, kept as the
-- texts they came as: Lua would write large numbers with exponents.
local P = KEYS[1]

local function delivery_key(lead, target) return P .. 'delivery:' .. lead .. ' ' .. target end
local function due_key(deployment, target) return P .. 'due:' .. deployment .. ' ' .. target end
local function state_key(deployment, state) return P .. 'state:' .. deployment .. ' ' .. state end
local function open_key(deployment) return P .. 'open:' .. deployment end

-- Puts a delivery into a state, with every index that names it. An empty due_at leaves it as it is.
local function put(lead, target, deployment, state, due_at, detail, now)
  local key = delivery_key(lead, target)
  local member = lead .. ' ' .. target
  local old = redis.call('HGET', key, 'state')
  if old then redis.call('ZREM', state_key(deployment, old), member) end
  redis.call('HSET', key, 'deployment', deployment, 'state', state, 'detail', detail, 'updated_at', now,
    'worker', '', 'lease_until', '0', 'transmitting', '0')
  if due_at ~= '' then redis.call('HSET', key, 'due_at', due_at) end
  redis.call('HSETNX', key, 'attempts', '0')
  redis.call('ZADD', state_key(deployment, state), now, member)
  redis.call('ZREM', P .. 'sending', member)
  if state == 'delivered' or state == 'refused' then
    redis.call('ZREM', open_key(deployment), member)
  else
    redis.call('ZADD', open_key(deployment), redis.call('HGET', P .. 'lead:' .. lead, 'accepted_at') or now, member)
  end
  if state == 'queued' or state == 'waiting' then
    redis.call('ZADD', due_key(deployment, target), redis.call('HGET', key, 'due_at'), lead)
  else
    redis.call('ZREM', due_key(deployment, target), lead)
  end
end

-- Writes one line of a delivery's history.
local function note(lead, target, state, detail, now)
  local number = redis.call('HGET', delivery_key(lead, target), 'attempts')
  redis.call('RPUSH', P .. 'attempts:' .. lead, target, number, now, state, detail)
end

-- Whether a job is still in the hands of this worker and attempt.
local function holds(lead, target, worker, attempt)
  local found = redis.call('HMGET', delivery_key(lead, target), 'state', 'worker', 'attempts')
  return found[1] == 'sending' and found[2] == worker and found[3] == attempt
end
