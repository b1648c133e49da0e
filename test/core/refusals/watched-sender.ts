import type { Delivery, Permit, Refusal } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { exponential, type Bench } from '../harness.ts';

/** A sender that retries by the schedule of its profile, and disables the endpoint by its rule. */
export interface WatchedSender {
  readonly profile: SenderProfile;
  readonly perSecond: number;
  readonly toS: number;
  /** Default: the name of the profile. */
  readonly key?: string;
  /** What the sender counts: any answers, or those to one event. */
  readonly counts?: 'answers' | 'attempts';
}

/** A sender that disables the endpoint after so many failures in a row. */
export function profileOf(name: string, inARow: number, changes: Partial<SenderProfile> = {}): SenderProfile {
  return {
    name,
    match: { header: `x-${name}` },
    timeoutMs: 5000,
    retryAfter: 'ignored',
    switchOff: { inARow },
    source: 'none',
    verifiedAt: '2026-11-22',
    ...changes,
  };
}

/** What the sender has seen. */
export class Seen {
  events = 0;
  delivered = 0;
  lost = 0;
  attempts = 0;
  successes = 0;
  row = 0;
  longestRow = 0;
  /** When it disabled the endpoint, in seconds. */
  offS: number | undefined;
}

/** Sends to an intake whose handlers take `serviceMs` on the manual clock. */
export function send(
  bench: Bench,
  sender: WatchedSender,
  random: () => number,
  serviceMs: () => number,
): Seen {
  const { intake, clock } = bench;
  const { profile, counts = 'answers' } = sender;
  const seen = new Seen();
  const schedule = typeof profile.retries === 'object' ? (profile.retries.scheduleS ?? []) : [];
  const limit = profile.switchOff?.inARow ?? Infinity;
  const { timeoutMs = 10_000 } = profile;
  const delivery = (id: string): Delivery => ({
    key: sender.key ?? profile.name,
    id,
    profile,
    maxWaitMs: timeoutMs - Math.max(500, timeoutMs * 0.2),
    retries: profile.retries === 'none' ? false : undefined,
  });

  const answered = (isSuccess: boolean, attempt: number): void => {
    if (isSuccess) seen.successes += 1;
    seen.row = isSuccess ? 0 : seen.row + 1;
    seen.longestRow = Math.max(seen.longestRow, seen.row);
    const row = counts === 'answers' ? seen.row : isSuccess ? 0 : attempt;
    if (row >= limit) seen.offS ??= clock.now() / 1000;
  };
  const attempt = (id: string, number: number): void => {
    if (seen.offS !== undefined) {
      seen.lost += 1;
      return;
    }
    seen.attempts += 1;
    const result = intake.admit(delivery(id));
    let isOpen = true;
    const failed = (): void => {
      if (!isOpen) return;
      isOpen = false;
      answered(false, number);
      const stepS = schedule[number - 1];
      if (stepS === undefined) {
        seen.lost += 1;
        return;
      }
      clock.setTimeout(
        () => {
          attempt(id, number + 1);
        },
        stepS * 1000 * (0.8 + 0.4 * random()),
      );
    };
    const settle = (answer: Permit | Refusal): void => {
      if (!answer.admitted) {
        failed();
        return;
      }
      clock.setTimeout(() => {
        if (isOpen) {
          isOpen = false;
          seen.delivered += 1;
          answered(true, number);
        }
        answer.release();
      }, serviceMs());
    };
    if (!result.admitted) {
      settle(result);
      return;
    }
    clock.setTimeout(() => {
      if (isOpen) result.leave();
      failed();
    }, timeoutMs);
    if (result.permit instanceof Promise) void result.permit.then(settle);
    else settle(result.permit);
  };
  const next = (): void => {
    const ms = exponential(random, 1000 / sender.perSecond);
    if (clock.now() + ms >= sender.toS * 1000) return;
    clock.setTimeout(() => {
      seen.events += 1;
      attempt(String(seen.events), 1);
      next();
    }, ms);
  };
  clock.setTimeout(next, 0);
  return seen;
}
