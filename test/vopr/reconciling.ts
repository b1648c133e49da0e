import type { Inbox } from '@webhook-backpressure/inbox';
import { type FoundEvent, reconcile } from '@webhook-backpressure/reconcile';
import type { Missed, Senders } from './senders.ts';
import type { Process, World } from './world.ts';

/** An event is in the list of its sender so much later, at most: less than the overlap of two runs. */
export const MAX_LAG_MS = 240_000;

/** What fails until after the overlap of all events. */
const TROUBLES = ['none', 'list', 'load', 'redelivery'] as const;
const WELL_MS = 700_000;

/** Starts a reconciler in a process. Its source lists what the senders have given up, and fails now and then. */
export function startReconciler(world: World, senders: Senders, inbox: Inbox, process: Process): void {
  const { dice } = world;
  const trouble = dice.of(TROUBLES);
  const answer = <T>(of: (typeof TROUBLES)[number], result: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      world.after(dice.whole(0, dice.isLucky(0.1) ? 20_000 : 50), () => {
        process.do(() => {
          const isAway = trouble === of && world.nowMs < WELL_MS;
          if (isAway || (!world.isCalm && dice.isLucky(0.2))) reject(new Error('the API failed'));
          else resolve(result());
        });
      });
    });
  const found = (one: Missed): FoundEvent => {
    const { id, key } = one.sent.planned;
    const headers = { 'webhook-id': id, 'x-key': key };
    const event = { id, at: new Date(one.atMs), headers };
    const kind = one.sent.planned.atMs % 3;
    if (kind === 0) return { ...event, body: '{}' };
    const load = (): 'requested' | { readonly headers: typeof headers; readonly body: string } => {
      if (kind === 1) return { headers, body: '{}' };
      if (trouble !== 'redelivery' || world.nowMs >= WELL_MS) senders.sendAgain(one);
      return 'requested';
    };
    return { ...event, load: () => answer('load', load) };
  };
  const reconciler = reconcile({
    inbox,
    source: async function* (since) {
      const listed = senders.missed.filter(({ atMs }) => atMs >= since.getTime());
      // The newest first, in pages.
      for (const one of listed.reverse()) {
        if (dice.isLucky(0.3)) await answer('list', () => undefined);
        if (one.listedAtMs <= world.nowMs) yield found(one);
      }
      await answer('list', () => undefined);
    },
    since: () => (senders.mark === undefined ? undefined : new Date(senders.mark)),
    everyMs: 20_000,
    clock: process.clock,
    wallClock: () => world.wallMs,
    random: () => dice.random(),
  });
  reconciler.subscribe((event) => {
    world.note();
    // A program stores the mark of each run, and a later process begins there.
    if (event.type === 'run' && !process.isDead) senders.mark = event.result.mark.getTime();
  });
}
