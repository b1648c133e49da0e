import { randomUUID } from 'node:crypto';
import {
  checkNames,
  type Clock,
  inBackground,
  monotonic,
  systemClock,
  thrownText,
} from '@webhook-backpressure/base';
import type { Awaitable } from '@webhook-backpressure/base';
import type { BucketLimit, Buckets, BucketsOptions, TokenGrant } from '@webhook-backpressure/fleet';
import { checkClient, checkPrefix, type RedisClient } from './client.ts';
import { Presence, STARTING_PROBE_MS } from './presence.ts';
import { SharedBucket } from './shared-bucket.ts';
import { replyOf, TAKE, type TakeReply } from './take-script.ts';
import { TimedCalls, type Reply } from './timed-calls.ts';

/** Options of {@link redisBuckets}. */
export interface RedisBucketsOptions {
  /** The beginning of the name of each key, from 1 to 200 characters. Default: `webhook-sender`. */
  prefix?: string | undefined;
}

const DEFAULT_PREFIX = 'webhook-sender';
/** How long a call may take. A token that comes later is too old to be used, so it is returned. */
const CALL_LIMIT_MS = 100;
/** When tokens that nothing uses go back. */
const SWEEP_MS = 50;
/** After a failed call of one endpoint. Doubled with each failure. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8000;
/** While the server is away, a wait is not longer, because the server may be back. */
const MAX_WAIT_MS = 1000;
/** After a late reply. Doubled with each, because calls that are useless make the server later. */
const LATE_WAIT_MS = 20;
const MAX_LATE_WAIT_MS = 1280;

/**
 * Keeps the tokens of endpoints in Redis 6.2 or newer, or Valkey, so that all processes of a sender share one limit for each
 * endpoint. Alone, in a cluster, or behind a sentinel.
 *
 * @param client - of `ioredis` (`Redis` or `Cluster`) or of `redis` (4 or newer; connect it first). It is not closed. Turn
 * its offline queue off, and add a listener of its `error` event.
 * @param options - see {@link RedisBucketsOptions}.
 * @throws BackpressureError `ERR_WBP_REDIS` or `ERR_WBP_UNKNOWN_OPTION` for an invalid argument.
 */
export function redisBuckets(client: RedisClient, options: RedisBucketsOptions = {}): Buckets {
  checkNames(options, 'options', ['prefix']);
  checkClient(client);
  const { prefix = DEFAULT_PREFIX } = options;
  checkPrefix(prefix);
  return new RedisBuckets(client, prefix);
}

class RedisBuckets implements Buckets {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #process: string = randomUUID();
  readonly #buckets = new Map<string, SharedBucket>();
  /** Buckets with tokens or news that the server does not have yet. */
  readonly #unclean = new Set<SharedBucket>();
  #clock: Clock = systemClock;
  #random: () => number = Math.random;
  #now: () => number = monotonic(systemClock);
  #calls: TimedCalls | undefined;
  #presence: Presence | undefined;
  #sweep: unknown;
  #isSweepSet = false;
  #isClosed = false;

  constructor(client: RedisClient, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  get processes(): number {
    return this.#presence?.sharers ?? 1;
  }

  open({ clock, random = Math.random, listener }: BucketsOptions): void {
    this.#clock = clock;
    this.#random = random;
    this.#now = monotonic(clock);
    this.#calls = new TimedCalls(CALL_LIMIT_MS, clock, this.#now);
    const member = { id: this.#process, key: `${this.#prefix}:processes`, client: this.#client };
    this.#presence = new Presence({ ...member, clock, random, listener }, this.#now, this.#calls);
  }

  take(name: string, count: number, limit: BucketLimit): Awaitable<TokenGrant> {
    const nowMs = this.#now();
    const bucket = this.#bucket(name, limit);
    if (bucket.pausedUntilMs <= nowMs) {
      const taken = bucket.takeHeld(count, nowMs);
      if (taken > 0) return { taken, waitMs: taken < count ? bucket.waitMs(nowMs) : 0 };
    }
    const presence = this.#presences();
    if (presence.isAway || (bucket.retryAtMs > nowMs && bucket.failures > 0)) {
      if (bucket.pausedUntilMs > nowMs) return { taken: 0, waitMs: bucket.pausedUntilMs - nowMs };
      // The connection of this process alone may have broken.
      if (!presence.isAway && bucket.failures === 1) return { taken: 0, waitMs: bucket.retryAtMs - nowMs };
      return this.#takeShare(bucket, count, nowMs);
    }
    const waitMs = bucket.waitMs(nowMs);
    if (waitMs > 0) return { taken: 0, waitMs };
    const most = this.#mostOf(bucket, nowMs);
    if (most >= 1) return this.#ask(bucket, Math.min(count, most), nowMs);
    return { taken: 0, waitMs: Math.min(bucket.share?.waitMs(nowMs) ?? 0, MAX_WAIT_MS) };
  }

  use(name: string, count: number, limit: BucketLimit): Awaitable<number> {
    const nowMs = this.#now();
    const bucket = this.#bucket(name, limit);
    if (bucket.isFromShare) {
      bucket.share?.giveBack(count);
      return bucket.share?.take(count, nowMs) ?? 0;
    }
    if (!bucket.isStale(nowMs)) return count;
    bucket.share?.giveBack(count);
    bucket.giveBack(count);
    return this.#ask(bucket, count, nowMs).then(({ taken }) => {
      if (bucket.isFromShare || taken === 0 || !bucket.isStale(this.#now())) return taken;
      // The process was interrupted since the reply.
      this.giveBack(name, taken, limit);
      return 0;
    });
  }

  giveBack(name: string, count: number, limit: BucketLimit): void {
    const bucket = this.#bucket(name, limit);
    bucket.share?.giveBack(count);
    if (!bucket.isFromShare) bucket.giveBack(count);
    this.#cleanSoon(bucket);
  }

  pause(name: string, forMs: number, limit: BucketLimit): void {
    const bucket = this.#bucket(name, limit);
    const untilMs = this.#now() + forMs;
    if (untilMs <= bucket.pausedUntilMs) return;
    bucket.pausedUntilMs = untilMs;
    bucket.isPauseNew = true;
    bucket.dropHeld();
    this.#cleanSoon(bucket);
    this.#clean(bucket);
  }

  peek(name: string): number | null {
    return this.#buckets.get(name)?.peek(this.#now()) ?? null;
  }

  forget(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket?.isClean === true) this.#buckets.delete(name);
    else if (bucket !== undefined) bucket.isForgotten = true;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const bucket of this.#unclean) {
      bucket.dropHeld();
      this.#clean(bucket);
    }
    if (this.#isSweepSet) this.#clock.clearTimeout(this.#sweep);
    this.#isSweepSet = false;
    this.#presence?.close();
    this.#calls?.close();
  }

  #bucket(name: string, limit: BucketLimit): SharedBucket {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined)
      this.#buckets.set(name, (bucket = new SharedBucket(name, limit, this.#random())));
    bucket.isForgotten = false;
    bucket.set(limit);
    return bucket;
  }

  #presences(): Presence {
    // Used without a sender.
    if (this.#presence === undefined) this.open({ clock: this.#clock, listener: () => undefined });
    return this.#presence as Presence;
  }

  async #ask(bucket: SharedBucket, count: number, nowMs: number): Promise<TokenGrant> {
    const reply = await this.#call(bucket, bucket.batchFor(count, nowMs));
    const afterMs = this.#now();
    if (reply.kind === 'failed') {
      if (bucket.failures > 1) return this.#takeShare(bucket, count, afterMs);
      const waitMs = bucket.failures === 0 ? STARTING_PROBE_MS : Math.max(0, bucket.retryAtMs - afterMs);
      return { taken: 0, waitMs };
    }
    if (reply.kind === 'late') {
      bucket.lates += 1;
      return { taken: 0, waitMs: Math.min(MAX_LATE_WAIT_MS, LATE_WAIT_MS * 2 ** (bucket.lates - 1)) };
    }
    bucket.lates = 0;
    const { value, tookMs } = reply;
    const taken = bucket.answered(value, count, tookMs, afterMs);
    if (bucket.pausedUntilMs > afterMs) {
      // The endpoint asked for a pause in the meantime.
      bucket.giveBack(taken);
      bucket.dropHeld();
      this.#cleanSoon(bucket);
      return { taken: 0, waitMs: bucket.pausedUntilMs - afterMs };
    }
    if (!bucket.isClean) this.#cleanSoon(bucket);
    const isLate = taken === 0 && value.taken > 0;
    return { taken, waitMs: isLate ? LATE_WAIT_MS : bucket.waitMs(afterMs) };
  }

  #takeShare(bucket: SharedBucket, count: number, nowMs: number): TokenGrant {
    const { taken, waitMs } = bucket.takeShare(count, this.#presences().sharing, nowMs);
    if (taken > 0) this.#cleanSoon(bucket);
    return { taken, waitMs: Math.min(waitMs, MAX_WAIT_MS) };
  }

  /** How many tokens may be asked for: while other processes may not know that the server is back, those of the own part. */
  #mostOf(bucket: SharedBucket, nowMs: number): number {
    const presence = this.#presences();
    if (presence.isUnsettled) return bucket.shareOf(presence.sharing, nowMs).tokens(nowMs);
    bucket.share = undefined;
    return Infinity;
  }

  async #call(bucket: SharedBucket, want: number): Promise<Reply<TakeReply>> {
    const presence = this.#presences();
    const { isPauseNew, shared } = bucket;
    const { losses } = presence;
    // Other processes may have used their parts, and what the server has saved meanwhile may not be used.
    const isEmptied = shared > 0 || (presence.isUnsettled && bucket.losses !== losses);
    const values = [this.#process, ...bucket.askFor(want, isEmptied, this.#now())];
    bucket.calls += 1;
    const reply = await (this.#calls as TimedCalls).run(
      async () => replyOf(await TAKE.run(this.#client, `${this.#prefix}:bucket:${bucket.name}`, values)),
      ({ taken, nowUs }) => {
        presence.heard();
        bucket.giveBack(taken, nowUs);
        this.#cleanSoon(bucket);
      },
    );
    bucket.calls -= 1;
    if (reply.kind === 'answered') {
      bucket.failures = 0;
      bucket.learn(reply.value, want, this.processes, this.#now());
      bucket.shared -= shared;
      bucket.losses = losses;
      presence.answered();
      return reply;
    }
    // The server may have the pause now; a second one changes nothing.
    if (isPauseNew) bucket.isPauseNew = true;
    if (reply.kind === 'failed') {
      if (presence.isStarting) return reply;
      bucket.retryAtMs = this.#now() + Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** bucket.failures);
      bucket.failures += 1;
      presence.failed(thrownText(reply.error));
    } else {
      presence.late();
    }
    return reply;
  }

  #cleanSoon(bucket: SharedBucket): void {
    if (this.#isClosed) return;
    this.#unclean.add(bucket);
    if (this.#isSweepSet) return;
    this.#isSweepSet = true;
    this.#sweep = this.#clock.setTimeout(this.#cleanAll, SWEEP_MS);
  }

  readonly #cleanAll = (): void => {
    this.#isSweepSet = false;
    const nowMs = this.#now();
    for (const bucket of this.#unclean) {
      bucket.expire(nowMs);
      this.#clean(bucket);
    }
    const [next] = this.#unclean;
    if (next !== undefined) this.#cleanSoon(next);
  };

  #clean(bucket: SharedBucket): void {
    if (bucket.isClean) {
      this.#unclean.delete(bucket);
      if (bucket.isForgotten) this.#buckets.delete(bucket.name);
      return;
    }
    const isNews = bucket.returned > 0 || bucket.shared > 0 || bucket.isPauseNew;
    const { isAway } = this.#presences();
    if (!isNews || bucket.calls > 0 || isAway || bucket.retryAtMs > this.#now()) return;
    inBackground(this.#call(bucket, 0));
  }
}
