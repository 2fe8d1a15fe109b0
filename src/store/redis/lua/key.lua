-- key, member
local found = redis.call('HMGET', P .. 'key:' .. ARGV[1], 'expires_at', 'fingerprint', 'lead_id', 'answer')
if not found[1] and not whole(ARGV[2]) then return { 'closed' } end
return found
