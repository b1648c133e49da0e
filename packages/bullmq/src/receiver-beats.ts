import type { ReceiverBeat } from '@webhook-backpressure/core';
import type { RedisAccess, Script } from './redis-access.ts';

/** How long a receiver counts after its last exchange, in milliseconds. */
const LIFETIME_MS = 10_000;

/** Keeps `<refusals>:<ms>` for each receiver, by the time of Redis, and returns those of the others. */
const EXCHANGE: Script = {
  name: 'webhookBackpressureExchange',
  numberOfKeys: 1,
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ':' .. string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local fields = redis.call('HGETALL', KEYS[1])
local others = {}
for at = 1, #fields, 2 do
  local refusals, ms = string.match(fields[at + 1], '^(%d+):(%d+)$')
  if now - tonumber(ms) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], fields[at])
  elseif fields[at] ~= ARGV[1] then
    table.insert(others, fields[at])
    table.insert(others, refusals)
  end
end
return others`,
};

/** Stores what this receiver reports, and returns what the others on the queue reported within the last 10 s. */
export async function exchangeBeats(
  redis: RedisAccess,
  key: string,
  { receiver, refusals }: ReceiverBeat,
): Promise<readonly ReceiverBeat[]> {
  const args = [key, receiver, Math.round(refusals), LIFETIME_MS];
  const others = (await redis.run(EXCHANGE, args)) as string[];
  return others.flatMap((name, at) =>
    at % 2 === 0 ? [{ receiver: name, refusals: Number(others[at + 1]) }] : [],
  );
}
