import { checkNames } from '@webhook-backpressure/base';
import type {
  FleetBeat,
  FleetMember,
  FleetNews,
  FleetRegistry,
  FleetView,
} from '@webhook-backpressure/fleet';
import { checkClient, checkPrefix, evaluate, type RedisClient } from './client.ts';

/** Options of {@link redisRegistry}. */
export interface RedisRegistryOptions {
  /** The beginning of the name of each key, from 1 to 200 characters. Default: `webhook-fleet`. */
  prefix?: string | undefined;
}

const DEFAULT_PREFIX = 'webhook-fleet';
/** A reply has for each state and each of the news: the kind, the member, the age or the number, and the text. */
const FIELDS = 4;

/**
 * Writes what a member reports, then reads what it has not seen, in one step.
 *
 * All is in one hash, so that a cluster has it on one server. The names of its fields are `s member`, and
 * `n member number time`: the time says which news are old without reading them. A time that is far ahead was written
 * before the clock of the server was set back. What another program has written instead is deleted, or every beat would
 * fail because of it.
 */
const BEAT = `
local key, member, number, state, news = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local seen = cjson.decode(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function recent(at) return now - at < 10000 and at - now < 10000 end

local own = redis.call('HGET', key, 's ' .. member)
local last = own and tonumber(string.match(own, '^%d+ (%d+) ')) or 0
if number > last then
  redis.call('HSET', key, 's ' .. member, string.format('%d %d %s', now, number, state))
  if news ~= '' then
    redis.call('HSET', key, string.format('n %s %d %d', member, number, now), news)
  end
  redis.call('PEXPIRE', key, 60000)
end

local reply = {}
for _, field in ipairs(redis.call('HKEYS', key)) do
  local kind, id, rest = string.match(field, '^(%a) (%S+) ?(.*)$')
  if kind == 's' then
    local at, text = string.match(redis.call('HGET', key, field), '^(%d+) %d+ (.*)$')
    at = tonumber(at)
    if at and recent(at) then
      local age = string.format('%d', math.max(0, now - at))
      for _, value in ipairs({ kind, id, age, text }) do table.insert(reply, value) end
    else
      redis.call('HDEL', key, field)
    end
  elseif kind == 'n' then
    local of, at = string.match(rest, '^(%d+) (%d+)$')
    if not at or not recent(tonumber(at)) then
      redis.call('HDEL', key, field)
    elseif id ~= member and tonumber(of) > (tonumber(seen[id]) or 0) then
      for _, value in ipairs({ kind, id, of, redis.call('HGET', key, field) }) do table.insert(reply, value) end
    end
  end
end
return reply
`;

/**
 * Where the members of a fleet see each other: a hash in Redis 6.2 or newer, or Valkey, for each resource. Alone, in a
 * cluster, or behind a sentinel.
 *
 * @param client - of `ioredis` (`Redis` or `Cluster`) or of `redis` (4 or newer; connect it first). The registry does
 * not close it. Add a listener of its `error` event, without which a client of `redis` ends the process.
 * @param options - see {@link RedisRegistryOptions}.
 * @throws BackpressureError `ERR_WBP_REDIS` or `ERR_WBP_UNKNOWN_OPTION` for an invalid argument. Beats reject with the
 * errors of the client.
 */
export function redisRegistry(client: RedisClient, options: RedisRegistryOptions = {}): FleetRegistry {
  checkNames(options, 'options', ['prefix']);
  checkClient(client);
  const { prefix = DEFAULT_PREFIX } = options;
  checkPrefix(prefix);
  return {
    async beat({ resource, member, number, state, news, seen }: FleetBeat): Promise<FleetView> {
      const values = [member, String(number), state, news, JSON.stringify(seen)];
      return viewOf(await evaluate(client, BEAT, `${prefix}:${resource}`, values));
    },
  };
}

function viewOf(reply: unknown): FleetView {
  const members: FleetMember[] = [];
  const news: FleetNews[] = [];
  // A client may be set to return buffers.
  const values = (reply as unknown[]).map(String);
  for (let at = 0; at < values.length; at += FIELDS) {
    const [kind, member = '', number, text = ''] = values.slice(at, at + FIELDS);
    if (kind === 's') members.push({ member, ageMs: Number(number), state: text });
    else news.push({ member, number: Number(number), news: text });
  }
  // A hash has no order.
  news.sort((a, b) => a.number - b.number);
  return { members, news };
}
