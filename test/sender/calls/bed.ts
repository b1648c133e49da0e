import { setImmediate as turn } from 'node:timers/promises';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import { limitedFetch, type LimitedFetchOptions, RetryAfter } from '@webhook-backpressure/sender/fetch';
import { RateAuditor } from '../../../packages/sender/src/buckets/rate-audit.ts';

export const API = 'https://api.example.com/';

/** An answer, or what is thrown instead. */
export type Reply = Response | Error;

export interface Bed {
  readonly clock: ManualClock;
  readonly fetch: typeof globalThis.fetch;
  /** When each request was started, and where to. */
  readonly starts: { readonly atMs: number; readonly url: string }[];
  /** Requests without an answer. */
  readonly inFlight: (((reply: Reply) => void) & { readonly url: string })[];
  /** Answers requests; undefined: the test answers it by `inFlight`. */
  reply: (url: string, at: number) => Reply | undefined;
  /** Moves the clock from timer to timer, with what they settle in between. */
  pass(ms: number): Promise<void>;
}

/** A limited fetch on a manual clock, with an API that answers immediately with 200. */
export function bed(options: Omit<LimitedFetchOptions, 'clock' | 'fetch'>): Bed {
  const clock = manualClock();
  const made: Bed = {
    clock,
    starts: [],
    inFlight: [],
    reply: () => new Response('ok'),
    fetch: limitedFetch({
      random: () => 0.5,
      ...options,
      clock,
      fetch: (input) => {
        const url = input instanceof Request ? input.url : input.toString();
        made.starts.push({ atMs: clock.now(), url });
        const reply = made.reply(url, made.starts.length);
        return new Promise((resolve, reject) => {
          const settle = (given: Reply): void => {
            if (given instanceof Error) reject(given);
            else resolve(given);
          };
          if (reply === undefined) made.inFlight.push(Object.assign(settle, { url }));
          else settle(reply);
        });
      },
    }),
    async pass(ms) {
      await turn();
      const end = { isPast: false };
      // A timer ends the period, so that `advanceToNext` never goes beyond it.
      clock.setTimeout(() => (end.isPast = true), ms);
      while (!end.isPast && clock.advanceToNext()) await turn();
      // Timers of the same time that were set later.
      for (let more = 0; more < 3; more += 1) {
        clock.advance(0);
        await turn();
      }
    },
  };
  return made;
}

/** An answer with this status and these headers. */
export function answer(status: number, headers: Record<string, string> = {}): Response {
  return new Response(status === 204 ? null : 'body', { status, headers });
}

/** How the calls ended so far. */
export class Outcomes {
  ok = 0;
  readonly seconds: number[] = [];
  readonly errors: unknown[] = [];

  add(call: Promise<Response>): void {
    call.then(
      () => (this.ok += 1),
      (error: unknown) => {
        if (error instanceof RetryAfter) this.seconds.push(error.seconds);
        else this.errors.push(error);
      },
    );
  }
}

/** Starts beyond burst + rate × time in any window. */
export function excessOf(starts: readonly { readonly atMs: number }[], limit: BucketLimit): number {
  const auditor = new RateAuditor(limit, 0);
  for (const { atMs } of starts) auditor.started(limit, 1, atMs);
  return auditor.report().excess;
}
