-- key, expires_at, fingerprint, lead, now, member, deadline, acceptance
if not whole(ARGV[6]) then return { 'closed' } end
local key = P .. 'key:' .. ARGV[1]
local found = redis.call('HMGET', key, 'expires_at', 'fingerprint', 'lead_id', 'answer')
if found[1] and tonumber(found[1]) > tonumber(ARGV[5]) then return { found[2], found[3], found[4] } end
redis.call('DEL', key)
redis.call('HSET', key, 'expires_at', ARGV[2], 'fingerprint', ARGV[3], 'lead_id', ARGV[4])
redis.call('PEXPIRE', key, string.format('%.0f', math.max(1, tonumber(ARGV[2]) - tonumber(ARGV[5]))))
redis.call('HSET', P .. 'pending', ARGV[4], ARGV[8])
redis.call('ZADD', P .. 'pending_by_deadline', ARGV[7], ARGV[4])
return {}
