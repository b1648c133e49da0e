import { expect, it } from 'vitest';
import type { Permit, Refusal } from '@webhook-backpressure/core';
import { createBench, exponential, seeded } from '../harness.ts';
import { runUntil } from '../workshop.ts';

it.each([0, 1000, 3000])(
  'a slowdown of 5 s that begins after %d ms of a burst keeps no retry away for long',
  async (slowFromMs) => {
    const { clock, intake } = createBench({
      concurrency: 10,
      retryAfter: { strategy: 'booked' },
      random: seeded(1),
    });
    const random = seeded(3);
    const burstAtMs = clock.now() + 60_000;
    let handled = 0;
    let lastMs = 0;
    const retry = ({ retryAfterSeconds }: Refusal): void => {
      clock.setTimeout(send, retryAfterSeconds * 1000);
    };
    const handle = (permit: Permit): void => {
      const sinceMs = clock.now() - burstAtMs;
      const isSlow = sinceMs > slowFromMs && sinceMs < slowFromMs + 5000;
      clock.setTimeout(
        () => {
          permit.release();
          handled += 1;
          lastMs = clock.now() - burstAtMs;
        },
        exponential(random, isSlow ? 250 : 50),
      );
    };
    const begin = (result: Permit | Refusal): void => {
      if (result.admitted) handle(result);
      else retry(result);
    };
    function send(): void {
      const result = intake.admit({ key: 'a' });
      if (!result.admitted) retry(result);
      else if (result.permit instanceof Promise) void result.permit.then(begin);
      else begin(result.permit);
    }
    // A minute at half the rate of the workers, and then 2,000 in 2 s.
    for (let ms = 0; ms < 60_000; ms += 10) clock.setTimeout(send, ms);
    for (let ms = 0; ms < 2000; ms += 1) clock.setTimeout(send, 60_000 + ms);
    for (let step = 1; handled < 8000; step += 1) await runUntil(clock, step * 100);
    // Without the slowdown the burst takes 10 s.
    expect(lastMs).toBeLessThan(25_000);
  },
);
