import type { IntakeOptions, Refusal } from '@webhook-backpressure/core';
import { mistake } from './fields.ts';

/** Which Retry-After a refused sender is told. The gate is the intake's in every case but that of the queue. */
export interface Policy {
  readonly name: string;
  /**
   * Whether the intake itself chooses, as its options say. Otherwise it runs with the `depth` strategy, so that
   * it keeps no bookings for returns that it did not ask for.
   */
  readonly usesIntakeStrategy: boolean;
  /** Whether there is no intake at all, and a plain queue in its place: see `FifoQueue`. */
  readonly isQueue: boolean;
  /** Undefined: nothing. */
  retryAfterS(refusal: Refusal): number | undefined;
}

const CONSTANT = /^constant:([1-9]\d{0,8})$/;

/** Reads a policy as a scenario writes it. */
export function parsePolicy(path: string, name: string): Policy {
  const asIntake = (refusal: Refusal): number => refusal.retryAfterSeconds;
  if (name === 'intake') return { name, usesIntakeStrategy: true, isQueue: false, retryAfterS: asIntake };
  // Depth ÷ drain rate with up to 20 % of upward jitter, rounded up, is the `depth` strategy and nothing else.
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
