-- key, lead, deployment, dealer, accepted_at, record, answer, now, attention, (target, due_at)*
local key, lead, deployment, now, attention = P .. 'key:' .. ARGV[1], ARGV[2], ARGV[3], ARGV[8], ARGV[9]
if redis.call('HDEL', P .. 'pending', lead) == 0 then return 0 end
redis.call('ZREM', P .. 'pending_by_deadline', lead)
if redis.call('HGET', key, 'lead_id') == lead then redis.call('HSET', key, 'answer', ARGV[7]) end
redis.call('HSET', P .. 'lead:' .. lead, 'accepted_at', ARGV[5])
local targets = {}
for at = 10, #ARGV, 2 do
  table.insert(targets, ARGV[at])
  put(lead, ARGV[at], deployment, 'queued', ARGV[at + 1], '', now)
end
if attention ~= '' then
  table.insert(targets, 'scheduling')
  put(lead, 'scheduling', deployment, 'held', now, attention, now)
  note(lead, 'scheduling', 'held', attention, now)
end
redis.call('HSET', P .. 'lead:' .. lead, 'deployment', deployment, 'dealer', ARGV[4], 'accepted_at', ARGV[5],
  'record', ARGV[6], 'answer', ARGV[7], 'key', ARGV[1], 'targets', table.concat(targets, ' '))
redis.call('ZADD', P .. 'leads', ARGV[5], lead)
return 1
