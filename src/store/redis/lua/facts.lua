-- What the server that holds these keys says of itself. Asked from a script, so that in a cluster it is the
-- right one.
return { redis.call('INFO', 'memory'), redis.call('INFO', 'persistence'), redis.call('INFO', 'replication') }
