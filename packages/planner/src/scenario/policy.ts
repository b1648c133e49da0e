import type { IntakeOptions, Refusal } from '@webhook-backpressure/core';
import { mistake } from './fields.ts';

/** A plain queue in place of the intake: see `FifoQueue`. */
export interface PlainQueue {
  readonly isBounded: boolean;
  /** Of its refusals. */
  readonly status: 429 | 503;
}

/** Which Retry-After refused senders get, and from what. */
export interface Policy {
  readonly name: string;
  /**
   * Whether Retry-After is computed by the strategy in the intake's options. Otherwise the intake runs with the `depth`
   * strategy, so that it has no bookings.
   */
  readonly usesIntakeStrategy: boolean;
  /** Undefined: the intake. */
  readonly queue: PlainQueue | undefined;
  /**
   * Retry-After as the sender reads it; undefined without one.
   *
   * @param unit - the unit in which the sender reads it. The intake writes it in this unit; a constant is in seconds.
   */
  retryAfterS(refusal: Pick<Refusal, 'retryAfterSeconds'>, unit: 's' | 'ms'): number | undefined;
}

const WITH_SECONDS = /^(constant|queue):([1-9]\d{0,8})$/;

/** Parses the `policy` of a scenario. */
export function parsePolicy(path: string, name: string): Policy {
  const asIntake: Policy['retryAfterS'] = ({ retryAfterSeconds }) => retryAfterSeconds;
  if (name === 'intake') return { name, usesIntakeStrategy: true, queue: undefined, retryAfterS: asIntake };
  // Depth ÷ drain rate with up to 20 % of jitter, rounded up, is exactly the `depth` strategy.
  if (name === 'depth-rate')
    return { name, usesIntakeStrategy: false, queue: undefined, retryAfterS: asIntake };
  if (name === 'queue' || name === 'unbounded') {
    const queue: PlainQueue = { isBounded: name === 'queue', status: 503 };
    return { name, usesIntakeStrategy: false, queue, retryAfterS: () => undefined };
  }
  const [, kind, seconds] = WITH_SECONDS.exec(name) ?? [];
  if (seconds === undefined) {
    const rule =
      '"intake", "depth-rate", "queue", "unbounded", or "constant:S" or "queue:S" with whole seconds S from 1';
    throw mistake(path, rule, name);
  }
  const queue: PlainQueue | undefined = kind === 'queue' ? { isBounded: true, status: 429 } : undefined;
  const retryAfterS: Policy['retryAfterS'] = (_, unit) =>
    unit === 'ms' ? Number(seconds) / MS_PER_S : Number(seconds);
  return { name, usesIntakeStrategy: false, queue, retryAfterS };
}

const MS_PER_S = 1000;

/** The options of the intake under a policy. */
export function optionsUnder(
  policy: Policy,
  options: Omit<IntakeOptions, 'clock' | 'random'>,
): Omit<IntakeOptions, 'clock' | 'random'> {
  if (policy.usesIntakeStrategy) return options;
  return { ...options, retryAfter: { ...options.retryAfter, strategy: 'depth' } };
}
