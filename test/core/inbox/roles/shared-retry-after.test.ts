import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Inbox, ReceiverOptions } from '@webhook-backpressure/inbox';
import { Tier } from './tier.ts';

/** Two workers with five handlers of 100 ms each. */
const PER_SECOND = 100;
const RECEIVERS = 4;

let tier: Tier;
beforeEach(() => {
  tier = new Tier();
  for (let at = 0; at < 2; at += 1) {
    tier.addWorker(() => 100, { concurrency: 5, store: tier.storeWithEvents() });
  }
});
afterEach(() => tier.close());

/** Sends ten times as much as the workers can handle, evenly to all receivers. Resolves with the Retry-After since `fromMs`. */
async function overload(receivers: readonly Inbox[], forMs: number, fromMs = 0): Promise<number[][]> {
  const seconds: number[][] = receivers.map(() => []);
  await tier.pass(forMs, 20, () => {
    const isNoted = tier.clock.now() >= fromMs;
    for (const [at, inbox] of receivers.entries()) {
      for (let sent = 0; sent < 5; sent += 1) {
        void tier.send(inbox).then((answer) => {
          const after = answer?.headers['Retry-After'];
          if (isNoted && after !== undefined) seconds[at]?.push(Number(after));
        });
      }
    }
  });
  return seconds;
}

function tierOf(isInRegistry: boolean, options: Partial<ReceiverOptions> = {}, count = RECEIVERS): Inbox[] {
  return Array.from({ length: count }, () =>
    tier.addReceiver({ capacity: 1000, store: tier.storeWithEvents(), ...options }, isInRegistry),
  );
}

describe('Retry-After of several receivers on one store', () => {
  it.each([
    ['see each other', true],
    ['do not', false],
  ])('counts the backlog of the store and the rate of all workers, if they %s', async (_, isInRegistry) => {
    const receivers = tierOf(isInRegistry, { retryAfter: { strategy: 'depth' } });
    // Shedding begins at 800 deliveries, and ends at 500.
    const seconds = await overload(receivers, 8000, 6000);
    const { depth, drainRate } = receivers[0]?.snapshot() ?? { depth: 0, drainRate: 0 };
    expect(drainRate).toBeGreaterThan(PER_SECOND * 0.85);
    expect(drainRate).toBeLessThan(PER_SECOND * 1.15);
    for (const [at, of] of seconds.entries()) {
      expect(receivers[at]?.snapshot().depth).toBe(depth);
      expect(of.length).toBeGreaterThan(100);
      const mean = of.reduce((sum, one) => sum + one, 0) / of.length;
      expect(mean).toBeGreaterThan(4);
      expect(mean).toBeLessThan(11);
    }
  });

  it.each([
    { receivers: 4, isInRegistry: true, attempts: 2.8 },
    { receivers: 4, isInRegistry: false, attempts: 4 },
  ])('spreads the retries of a burst: %j', async ({ receivers, isInRegistry, attempts }) => {
    const found = await burst(tierOf(isInRegistry, {}, receivers));
    expect(found.attempts).toBeLessThan(attempts);
    expect(found.clearS).toBeLessThan((1.2 * EVENTS) / PER_SECOND);
  });
});

const EVENTS = 6000;

/** Sends a burst evenly to all receivers; refused deliveries are retried after Retry-After. The workers are idle before. */
async function burst(receivers: readonly Inbox[]): Promise<{ attempts: number; clearS: number }> {
  let attempts = 0;
  const send = (id: string): void => {
    attempts += 1;
    // As a balancer that takes turns.
    void tier.send(receivers[attempts % receivers.length] as Inbox, id).then((answer) => {
      if (answer?.status === 200) return;
      tier.clock.setTimeout(
        () => {
          send(id);
        },
        Number(answer?.headers['Retry-After']) * 1000,
      );
    });
  };
  // So that the workers look for deliveries.
  await tier.pass(5000, 500);
  let sent = 0;
  await tier.pass(6000, 20, () => {
    for (let at = 0; at < 20; at += 1) send(`evt_${String((sent += 1))}`);
  });
  while (tier.state.stats().drained < EVENTS) await tier.pass(500);
  return { attempts: attempts / EVENTS, clearS: tier.clock.now() / 1000 - 5 };
}
