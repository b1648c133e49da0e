import type { IntakeOptions, Refusal } from '@webhook-backpressure/core';
import { mistake } from './fields.ts';

/** Which Retry-After refused senders get. All policies but `queue` use the intake's gate. */
export interface Policy {
  readonly name: string;
  /**
   * Whether Retry-After is computed by the strategy in the intake's options. Otherwise the intake runs with the `depth`
   * strategy, so that it has no bookings.
   */
  readonly usesIntakeStrategy: boolean;
  /** Whether a plain queue replaces the intake: see `FifoQueue`. */
  readonly isQueue: boolean;
  /** Undefined: no Retry-After. */
  retryAfterS(refusal: Refusal): number | undefined;
}

const CONSTANT = /^constant:([1-9]\d{0,8})$/;

/** Parses the `policy` of a scenario. */
export function parsePolicy(path: string, name: string): Policy {
  const asIntake = (refusal: Refusal): number => refusal.retryAfterSeconds;
  if (name === 'intake') return { name, usesIntakeStrategy: true, isQueue: false, retryAfterS: asIntake };
  // Depth ÷ drain rate with up to 20 % of jitter, rounded up, is exactly the `depth` strategy.
  if (name === 'depth-rate')
    return { name, usesIntakeStrategy: false, isQueue: false, retryAfterS: asIntake };
  if (name === 'queue')
    return { name, usesIntakeStrategy: false, isQueue: true, retryAfterS: () => undefined };
  const constant = CONSTANT.exec(name)?.[1];
  if (constant === undefined)
    throw mistake(path, '"intake", "depth-rate", "queue" or "constant:S" with whole seconds S from 1', name);
  const retryAfterS = Number(constant);
  return { name, usesIntakeStrategy: false, isQueue: false, retryAfterS: () => retryAfterS };
}

/** The options of the intake under a policy. */
export function optionsUnder(
  policy: Policy,
  options: Omit<IntakeOptions, 'clock' | 'random'>,
): Omit<IntakeOptions, 'clock' | 'random'> {
  if (policy.usesIntakeStrategy) return options;
  return { ...options, retryAfter: { ...options.retryAfter, strategy: 'depth' } };
}
