import { checkNames } from '@webhook-backpressure/base';
import type {
  FleetBeat,
  FleetMember,
  FleetNews,
  FleetRegistry,
  FleetView,
} from '@webhook-backpressure/fleet';
import { BEAT, FIELDS, STATE } from './beat-script.ts';
import { checkClient, checkPrefix } from './checks.ts';
import { evaluate, type RedisClient } from './client.ts';

/** Options of {@link redisRegistry}. */
export interface RedisRegistryOptions {
  /** The beginning of the name of each key, from 1 to 200 characters. Default: `webhook-fleet`. */
  prefix?: string | undefined;
}

const DEFAULT_PREFIX = 'webhook-fleet';

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
    if (kind === STATE) members.push({ member, ageMs: Number(number), state: text });
    else news.push({ member, number: Number(number), news: text });
  }
  // A hash has no order.
  news.sort((a, b) => a.number - b.number);
  return { members, news };
}
