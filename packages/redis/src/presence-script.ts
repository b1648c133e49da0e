/**
 * Notes that a process uses the buckets, and returns how many did in the last six seconds, how many of them have a lower id,
 * and the time in milliseconds. A time that is ahead was written before the clock of the server was set back.
 */
export const PRESENT = `
local key, process, is_leaving = KEYS[1], ARGV[1], ARGV[2] == '1'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('TYPE', key).ok ~= 'zset' then redis.call('DEL', key) end
if is_leaving then
  redis.call('ZREM', key, process)
  return { 0, 0, now }
end
redis.call('ZREMRANGEBYSCORE', key, '-inf', now - 6000)
redis.call('ZREMRANGEBYSCORE', key, now + 6000, '+inf')
redis.call('ZADD', key, string.format('%d', now), process)
redis.call('PEXPIRE', key, 60000)
local rank = 0
local processes = redis.call('ZRANGE', key, 0, -1)
for _, other in ipairs(processes) do
  if other < process then rank = rank + 1 end
end
return { #processes, rank, now }
`;
