import type { Outcome } from './outcome.ts';
import type { Trial } from './trials.ts';

/** Smaller differences are chance, and do not justify an option. Parts of the other's figure. */
const LOST_PART = 0.05;
const ATTEMPTS_PART = 0.1;
const DELAY_PART = 0.1;
/** Part of all deliveries. */
const LOST_OF_ALL = 0.0005;

/** How many senders switch the endpoint off. */
function switchedOff({ senders }: Outcome): number {
  return senders.filter((sender) => sender.switchedOff).length;
}

export function losesNothing(outcome: Outcome): boolean {
  return outcome.lost === 0 && switchedOff(outcome) === 0;
}

/** Whether each delivery is handled at its first attempt. */
export function refusesNothing(outcome: Outcome): boolean {
  return losesNothing(outcome) && outcome.attemptsPerEvent === 1;
}

/**
 * Whether the outcome of `one` is better: fewer lost deliveries, then fewer senders that switch the endpoint off, then
 * fewer attempts, then a shorter delay.
 */
export function isBetter({ outcome: one }: Trial, { outcome: other }: Trial): boolean {
  const leastLost = Math.max(LOST_PART * other.lost, LOST_OF_ALL * other.events);
  const isAnyLoss = one.lost === 0 || other.lost === 0;
  if (differs(one.lost, other.lost, isAnyLoss ? 0 : leastLost)) return one.lost < other.lost;
  if (switchedOff(one) !== switchedOff(other)) return switchedOff(one) < switchedOff(other);
  // While deliveries are lost, the attempts and delays are those of the others.
  if (one.lost > 0) return false;
  const attempts = [one.attemptsPerEvent, other.attemptsPerEvent] as const;
  if (differs(...attempts, ATTEMPTS_PART * other.attemptsPerEvent)) return attempts[0] < attempts[1];
  const delays = [one.delayS.p99 ?? Infinity, other.delayS.p99 ?? Infinity] as const;
  return differs(...delays, DELAY_PART * delays[1]) && delays[0] < delays[1];
}

function differs(one: number, other: number, least: number): boolean {
  return one !== other && !(Math.abs(one - other) <= least);
}
