import { describe, expect, it } from 'vitest';
import { plan, type PlanRequest, renderPage } from '@webhook-backpressure/planner';
import { isLong } from '../long.ts';

/** 6/s at a capacity of 10/s. */
const USUAL: Omit<PlanRequest, 'senders'> = {
  normalPerSecond: 6,
  service: { meanMs: 100, distribution: 'constant' },
  concurrency: 1,
};
const from = (profile: string, changes: Partial<PlanRequest> = {}): PlanRequest => ({
  ...USUAL,
  senders: [{ profile }],
  ...changes,
});

describe('the recovery of a plan', () => {
  it('finds the smallest trigger after which retries keep the receiver without the middleware down', async () => {
    const planned = await plan(from('unknown'));
    const { recovery } = planned;
    if (recovery?.stallS == null || recovery.burst === null) throw new Error('No trigger was found.');
    // A stall of 25 s lets the queue grow until deliveries wait for longer than the timeout of 15 s.
    expect(recovery.stallS).toBeGreaterThan(15);
    expect(recovery.stallS).toBeLessThan(40);
    expect(recovery.burst).toBeGreaterThan(15 * 10);
    expect(recovery).toMatchObject({ mode: 'hold', switchedOff: [], recoveredS: { nothing: null } });
    expect(recovery.recoveredS.ours).toBeLessThan(60);
    const last = (values: readonly number[]): number => values.slice(-10).reduce((a, b) => a + b, 0) / 10;
    expect(last(recovery.load)).toBeGreaterThan(planned.drainPerSecond);
    expect(last(recovery.goodput.nothing)).toBeLessThan(0.9 * 6);
    expect(last(recovery.goodput.ours)).toBeGreaterThan(0.9 * 6);
    expect(renderPage(planned)).toContain('<b>Does it recover?</b>');
  });

  it('shows that a receiver recovers whose senders do not retry, and sooner with the middleware', async () => {
    const { recovery } = await plan(from('github'));
    expect(recovery).toMatchObject({ stallS: null, burst: null, mode: 'hold', switchedOff: [] });
    const { nothing, ours } = recovery?.recoveredS ?? {};
    expect(nothing).toBeGreaterThan(100);
    expect(ours).toBeLessThan(20);
  });

  it('names a sender that disables the endpoint, and simulates the inbox', async () => {
    const { recovery } = await plan(from('shopify'));
    expect(recovery).toMatchObject({
      mode: 'inbox',
      switchedOff: ['shopify'],
      recoveredS: { nothing: null },
    });
    expect(recovery?.recoveredS.ours).toBeLessThan(30);
  });

  it.runIf(isLong)(
    'counts a sender that retries without end as one that keeps the receiver down',
    async () => {
      const hasty = { name: 'hasty', timeoutMs: 1000, retries: { scheduleS: [0.02], windowS: 86_400 } };
      const profile = { ...hasty, match: 'all', source: 'none', verifiedAt: '2026-11-28' } as const;
      const { recovery } = await plan(from('github', { senders: [{ profile }] }));
      expect(recovery?.recoveredS.nothing).toBeNull();
      expect(recovery?.stallS).toBeLessThan(10);
    },
  );

  const NO_RECOVERY: readonly [string, Partial<PlanRequest>][] = [
    ['without ordinary traffic', { normalPerSecond: 0, burst: { events: 10, seconds: 1 } }],
    ['when the ordinary traffic is an overload', { normalPerSecond: 11, burst: { events: 10, seconds: 1 } }],
    [
      'when the queue would drain too slowly to simulate',
      { normalPerSecond: 9.99, burst: { events: 10, seconds: 1 } },
    ],
  ];

  // The plans of the others take seconds.
  it.each(isLong ? NO_RECOVERY : NO_RECOVERY.slice(0, 1))('is not simulated %s', async (_which, changes) => {
    expect((await plan(from('github', changes))).recovery).toBeNull();
  });
});
