import { setTimeout as wait } from 'node:timers/promises';
import { drainers } from './drainers.ts';
import { HANDLING_MS } from './troubles-report.ts';

/** Deliveries are stored in one call for each of these times. */
const TICK_MS = 20;

/** So many deliveries per second for so long. */
export interface Phase {
  readonly seconds: number;
  readonly perSecond: number;
}

/** A delivery that was acknowledged or handled, and when, by the clock of all processes. */
export type Moment = readonly [id: string, atMs: number];

/** What this process says: that it works, of each delivery that it was acknowledged or handles it, and that storing failed. */
export type Said =
  | { readonly ready: true }
  | { readonly acknowledged: readonly Moment[] }
  | { readonly handled: Moment }
  | { readonly refused: number }
  | { readonly ended: true };

const [side = '', connectionString = '', schema = '', phases = ''] = process.argv.slice(2);

const nowMs = (): number => performance.timeOrigin + performance.now();

/** Resolves when it is written, so that a kill does not lose it. */
function say(what: Said): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(what, undefined, {}, () => {
      resolve();
    });
  });
}

const drainer = await drainers.get(side)?.(connectionString, schema);
if (drainer === undefined) throw new Error(`There is no side ${side}.`);

if (phases === '') {
  // As whatever else a program does. Without it, graphile-worker ends with its connections.
  process.channel?.ref();
  await drainer.begin(async (id) => {
    await wait(HANDLING_MS);
    await say({ handled: [id, nowMs()] });
  });
  await say({ ready: true });
} else {
  const pending: Promise<void>[] = [];
  let stored = 0;
  await say({ ready: true });
  for (const { seconds, perSecond } of JSON.parse(phases) as readonly Phase[]) {
    const begin = nowMs();
    for (let due = 0, done = 0; due < seconds * perSecond;) {
      due = Math.min(seconds * perSecond, Math.floor(((nowMs() - begin) / 1000) * perSecond));
      const ids = Array.from({ length: due - done }, () => `${schema}-${String(stored++)}`);
      done = due;
      if (ids.length > 0)
        pending.push(
          drainer.store(ids).then(
            () => say({ acknowledged: ids.map((id) => [id, nowMs()]) }),
            () => say({ refused: ids.length }),
          ),
        );
      await wait(TICK_MS);
    }
  }
  await Promise.all(pending);
  await say({ ended: true });
}
