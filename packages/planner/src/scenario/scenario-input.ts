import type { Delivery, IntakeOptions } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import type { ScenarioInboxOptions } from './inbox.ts';

/** The interval [fromS, toS). */
export interface Interval {
  /** The first second. */
  readonly fromS: number;
  /** The end, in seconds, which is not part of it. */
  readonly toS: number;
}

/** How the balancer chooses a receiver. */
export type Balancing = 'random' | 'round-robin' | 'least-connections' | 'hash';

/** A scenario, as in a scenario file. Names end with their units. */
export interface ScenarioInput {
  /** An integer, default 1. Arrivals, service times, senders and the intake have separate streams of random numbers. */
  readonly seed?: number;
  /** `hold`, the default: the sender waits for the handler. `inbox`: a delivery is stored, acknowledged, and handled later. */
  readonly mode?: 'hold' | 'inbox';
  /** The options of the intake, in hold mode. */
  readonly intake?: Omit<IntakeOptions, 'clock' | 'random'>;
  /** The options of the inbox, and how long its store takes for a commit, by default 0. */
  readonly inbox?: ScenarioInboxOptions & { readonly commitMs?: number };
  /**
   * What refuses, and with which Retry-After: `intake`, the default; `constant:S`; `depth-rate`; a plain queue instead of
   * the intake: `queue`, `queue:S` or `unbounded`.
   */
  readonly policy?: string;
  /** How long deliveries take to handle. */
  readonly service: ServiceInput;
  /** The time that the receiver's single thread needs, each from 0 to 1,000 ms, default 0; and when it is frozen. */
  readonly process?: {
    readonly acceptMs?: number;
    readonly refuseMs?: number;
    readonly handleMs?: number;
    readonly freeze?: readonly Interval[];
  };
  /** Several receivers behind a balancer. Default: one. */
  readonly fleet?: FleetInput;
  /** First attempts in intervals. They add up, to at most two million. */
  readonly arrivals: readonly (Interval & {
    readonly perSecond: number;
    readonly process?: 'uniform' | 'poisson';
  })[];
  /** Each delivery belongs to one of them, drawn by `share`. */
  readonly senders: readonly SenderInput[];
}

/** How long deliveries take to handle. */
export interface ServiceInput {
  /** The mean, in milliseconds, above 0. */
  readonly meanMs: number;
  /** Default `constant`. */
  readonly distribution?: 'constant' | 'exponential';
  /** When all workers stall. */
  readonly standStill?: readonly Interval[];
  /** When deliveries take `factor` times as long. */
  readonly slow?: readonly (Interval & { readonly factor: number })[];
  /** From `fromS` on, more than `concurrency` deliveries in service slow each other down. */
  readonly knee?: readonly { readonly fromS: number; readonly concurrency: number }[];
}

/** Several receivers behind a balancer. */
export interface FleetInput {
  /** From 1 to 64. */
  readonly receivers: number;
  /** Default `random`. */
  readonly balancer?: Balancing;
  /** Whether they share the limits by a registry. Default true; otherwise each has an equal part. */
  readonly registry?: boolean;
  /** When the registry does not answer. */
  readonly registryAway?: readonly Interval[];
  /** When a receiver joins, or the oldest dies. */
  readonly changes?: readonly { readonly atS: number; readonly what: 'join' | 'die' }[];
}

/** A kind of sender. */
export interface SenderInput {
  /** The name of a profile, such as `mailgun` or `unknown`, or a profile: the sender behaves as it says. Default: as `retry` says. */
  readonly profile?: string | SenderProfile;
  /** Whether the receiver knows the profile. Default true, except for `unknown`. */
  readonly recognized?: boolean;
  /** The key of its deliveries. Default: the name of the profile. */
  readonly key?: string;
  /** Above 0, default 1. */
  readonly share?: number;
  /** Whether its deliveries have an id. Default true. */
  readonly identified?: boolean;
  /** When it retries, such as `retry-after` or `schedule:5,300,1800`. Default: as the profile says. */
  readonly retry?: string;
  /** Including the first attempt; 0, the default: no limit but that of the profile. */
  readonly maxAttempts?: number;
  /** When it disconnects; 0: never. Default: as the profile says, without a profile 0. */
  readonly timeoutMs?: number;
  /** Whether consecutive failures are counted by endpoint, the default, or by delivery. */
  readonly rowOf?: 'endpoint' | 'delivery';
  /** Other fields of its deliveries. */
  readonly delivery?: Pick<Delivery, 'priority' | 'retries' | 'maxWaitMs' | 'statusCode'>;
}
