-- Continues only while this Redis is known to be whole: the gate names the replication id that every member
-- has vouched for. A restart, a failover and an emptied server all lack it. An empty member stands for a store
-- without a journal, which vouches for nothing and is not asked.
local function replid() return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') end
local function whole(member)
  return member == '' or (redis.call('GET', P .. 'gate') == replid()
    and redis.call('HEXISTS', P .. 'members', member) == 1)
end
