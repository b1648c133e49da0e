import type { DeliveryRef } from '@webhook-backpressure/inbox';
import { type Act, Dice, type Plan } from './plan.ts';

/** With fewer attempts, what was in flight when a process died is retried one at a time. */
const MIN_ATTEMPTS = 3;

/** Makes a plan of inboxes, sometimes, one in which a handler ends its process each time, and nothing else goes wrong. */
export function withKiller(plan: Plan): Plan {
  const dice = new Dice(plan.seed, 'killer');
  if (plan.kind !== 'inboxes' || !dice.isLucky(0.1)) return plan;
  const { key, id } = dice.of(plan.deliveries);
  const acts = (): readonly Act[] => [{ does: 'succeeds', ms: dice.whole(0, dice.of([50, 5000])) }];
  const { options } = plan;
  const limits = Object.fromEntries(plan.deliveries.map((one) => [one.key, {}]));
  const isLimited = !options.ordered && options.batches === 0 && !options.coalesces && dice.isLucky(0.5);
  const isRush = dice.isLucky(0.5);
  return {
    ...plan,
    options: {
      ...options,
      maxHandlingMs: 60_000,
      maxDeadLetters: undefined,
      ...(isLimited && { limits, maxStartsPerSecond: undefined }),
    },
    deliveries: plan.deliveries.map((one) => ({
      ...one,
      atMs: isRush ? Math.min(one.atMs, 100) : one.atMs,
      acts: acts(),
    })),
    faults: [{ what: 'kills', key, id, afterMs: dice.of([0, dice.whole(1, 50)]) }],
  };
}

/** What the handler of a delivery does that ends its process. */
export function killingAct({ faults }: Plan, { key, id }: DeliveryRef): Act | undefined {
  const fault = faults.find((one) => one.what === 'kills' && one.key === key && one.id === id);
  return fault?.what === 'kills' ? { does: 'kills', ms: fault.afterMs } : undefined;
}

/**
 * How often a delivery may be stranded: at the first death of a process, and once in a group of others. Not limited for the
 * one that kills, and where something else goes wrong.
 */
export function mostStrandings(plan: Plan): (ref: DeliveryRef) => number {
  const isMeant = plan.faults.length > 0 && plan.faults.every(({ what }) => what === 'kills');
  const most = plan.options.attempts < MIN_ATTEMPTS ? 1 : 2;
  return (ref) => (isMeant && killingAct(plan, ref) === undefined ? most : Infinity);
}
