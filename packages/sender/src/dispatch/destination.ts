import type { Heaped } from '@webhook-backpressure/base';
import type { Batching } from '../batches/batching.ts';
import type { Gathering } from '../batches/gathering.ts';
import type { BucketLimit } from '../buckets/buckets.ts';
import type { RateAuditor } from '../buckets/rate-audit.ts';
import type { EndpointSettings } from '../options/settings.ts';
import type { EndpointHealth, Pace } from '../pace/pace.ts';

/** No time. */
const NEVER = Infinity;

/** The learned limits and the health of an endpoint. They are kept for a while after the last event. */
export interface Learned {
  readonly pace: Pace;
  readonly health: EndpointHealth;
  readonly audit: RateAuditor;
  /** Refused batches; undefined before the first batch. */
  batching: Batching | undefined;
  settings: EndpointSettings;
  /** The set limit: of the settings, or by an operator. */
  limit: BucketLimit;
  /** The last error; undefined after a success. */
  lastError: string | undefined;
}

/** Dispatch state of an endpoint that has events: small, because 100,000 endpoints may have some. */
export class Destination implements Heaped {
  readonly id: string;
  /** Position in the calendar; -1 outside. */
  heapIndex = -1;
  /** When the calendar returns it, on the monotonic clock. */
  atMs: number = NEVER;
  /** When the store has something to claim, on the monotonic clock; Infinity if it has nothing. */
  dueMs: number = NEVER;
  /** When the retries of a disabled endpoint may be made due again, so that they become dead letters soon. */
  hastenAtMs = 0;
  /** No token before this time. */
  tokenAtMs = 0;
  /** The events that wait for a batch; undefined without batches. */
  gathering: Gathering | undefined;
  /** Unfinished events, the claimed ones included. */
  stored = 0;
  /** Claims. */
  held = 0;
  /** Requests in flight. */
  inFlight = 0;
  /** How much the last claim returned: a hint how many tokens are useful. */
  lastClaimed = 0;
  /** Whether the settings are not known yet. */
  lacksSettings = false;
  /** Whether tokens or claims are being asked for. */
  isAsking = false;
  /** Whether events were stored meanwhile, so that the answer may lack them. */
  isOutdated = false;
  learned: Learned | undefined;
  /** When the oldest of the events that were claimed last was sent; undefined before the first claim. */
  oldestReceivedAtMs: number | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Events that are not in flight. */
  get queued(): number {
    return Math.max(0, this.stored - this.held);
  }
}
