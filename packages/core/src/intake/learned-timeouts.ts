import type { Arrival } from '../delivery/arrival.ts';
import type { Outcome, WithdrawalCause } from '../delivery/events.ts';
import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';
import type { Rule } from '../refusals/rule.ts';

/** From so many disconnects at about the same age on, the timeout of a key's senders is known. */
const ENOUGH = 8;
/** A sooner disconnect has another reason: the shortest timeout of a known sender is 3 s. */
const MIN_MS = 2500;
/** A client that dies drops all of its connections together, which says nothing about its timeout. */
const APART_MS = 20;
/** Ages that deviate by more than this part of their mean have another cause: senders have one timeout. */
const SPREAD = 0.1;
/** A timeout is forgotten so long after the last disconnect, and the keys above so many, oldest first. */
const FORGET_MS = 60_000;
const MAX_KEYS = 1000;
/** A delivery has to start so many mean handling times before its sender's timeout: handling times vary. */
const HANDLINGS = 1.5;

/** When the senders of a key have disconnected lately. */
interface Habit {
  /** Disconnects, minus answers that were awaited although they came later. At most twice {@link ENOUGH}. */
  weight: number;
  meanMs: number;
  deviationMs: number;
  lastMs: number;
}

/**
 * Learns the timeout of a key's senders where it is not known, from the age of deliveries whose senders disconnected.
 *
 * Without it, a receiver with slightly more deliveries than it can handle works in vain: the queue fills until deliveries
 * start just before their senders disconnect, and each is handled a moment too late. At 120/s for workers that handle
 * 100/s and a timeout of 5 s, senders make 2.9 attempts per event instead of 2.1, and six times as many handlings are in
 * vain.
 *
 * A sender that keeps disconnecting on purpose can shorten the wait of its key, but to no less than 1.25 s.
 */
export class LearnedTimeouts implements Rule {
  /** In the order of their last disconnect. */
  readonly #habits = new Map<string, Habit>();
  /** The mean handling time of a key, in milliseconds; 0 while unknown. */
  readonly #handlingMs: (key: string) => number;

  constructor(handlingMs: (key: string) => number) {
    this.#handlingMs = handlingMs;
  }

  longestWaitMs({ delivery: { retries }, key, nowMs }: Arrival): number {
    // A sender that never retries gains nothing from an early refusal, and something from a late start.
    const habit = this.#habits.size === 0 || retries === false ? undefined : this.#habits.get(key);
    if (habit === undefined || habit.weight < ENOUGH || nowMs - habit.lastMs > FORGET_MS) return Infinity;
    const { meanMs, deviationMs } = habit;
    if (deviationMs > SPREAD * meanMs) return Infinity;
    // Where handlers take as long as the senders wait, an earlier start does not help.
    return Math.max(meanMs / 2, meanMs - 2 * deviationMs - HANDLINGS * this.#handlingMs(key));
  }

  withdrawn(admitted: AdmittedDelivery, cause: WithdrawalCause, nowMs: number): void {
    if (cause === 'abandoned') this.#gone(admitted, nowMs);
  }

  /** A sender that disconnects while its delivery is handled has waited for the handler, if that takes long. */
  abandoned(admitted: AdmittedDelivery, nowMs: number): void {
    const isSlow = nowMs - admitted.startedAtMs > HANDLINGS * this.#handlingMs(admitted.key);
    if (admitted.waitedMs > 0 && !isSlow) this.#gone(admitted, nowMs);
  }

  ended(
    { delivery: { ageMs = 0 }, key, admittedAtMs }: AdmittedDelivery,
    outcome: Outcome,
    nowMs: number,
  ): void {
    const habit = this.#habits.size === 0 || outcome === 'failure' ? undefined : this.#habits.get(key);
    const isLate = habit !== undefined && nowMs - admittedAtMs + ageMs > habit.meanMs;
    if (isLate) habit.weight = Math.max(0, habit.weight - 1);
  }

  #gone({ delivery: { ageMs: beforeMs = 0 }, key, admittedAtMs }: AdmittedDelivery, nowMs: number): void {
    const ageMs = nowMs - admittedAtMs + beforeMs;
    let habit = this.#habits.get(key);
    if (ageMs < MIN_MS || (habit !== undefined && nowMs - habit.lastMs < APART_MS)) return;
    this.#habits.delete(key);
    if (habit === undefined || nowMs - habit.lastMs > FORGET_MS)
      habit = { weight: 0, meanMs: ageMs, deviationMs: 0, lastMs: nowMs };
    habit.weight = Math.min(2 * ENOUGH, habit.weight + 1);
    const part = 1 / Math.min(ENOUGH, habit.weight);
    habit.deviationMs += (Math.abs(ageMs - habit.meanMs) - habit.deviationMs) * part;
    habit.meanMs += (ageMs - habit.meanMs) * part;
    habit.lastMs = nowMs;
    this.#habits.set(key, habit);
    if (this.#habits.size <= MAX_KEYS) return;
    for (const oldest of this.#habits.keys()) {
      this.#habits.delete(oldest);
      return;
    }
  }
}
