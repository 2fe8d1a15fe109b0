-- deployment, target, worker, now, lease_until, member
if not whole(ARGV[6]) then return {} end
local deployment, target, worker, now, lease_until = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local due = redis.call('ZRANGE', due_key(deployment, target), '-inf', now, 'BYSCORE', 'LIMIT', 0, 1)
local lead = due[1]
if not lead then return {} end
put(lead, target, deployment, 'sending', '', redis.call('HGET', delivery_key(lead, target), 'detail'), now)
local key = delivery_key(lead, target)
redis.call('HSET', key, 'worker', worker, 'lease_until', lease_until)
redis.call('ZADD', P .. 'sending', lease_until, lead .. ' ' .. target)
local attempt = redis.call('HINCRBY', key, 'attempts', 1)
local found = redis.call('HMGET', P .. 'lead:' .. lead, 'accepted_at', 'record')
return { lead, tostring(attempt), found[1], found[2] }
