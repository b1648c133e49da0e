import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import type { Comparison, Side } from '../plan.ts';
import { interleave, sideName, type Effort, type Rates } from '../rounds.ts';
import type { Met } from './connecting-child.ts';
import { inScratch } from './scratch.ts';
import { slowDisk } from './slow-disk.ts';

/** On a slow disk a commit takes so long that a shorter turn would count only a few. */
const SECONDS = 2;
const MAX_WARM_UPS = 10;

type Load = Pick<Comparison, 'fsyncMs' | 'bodyBytes'>;

/** Senders that open a connection for each delivery, and what is to be known of how the receiver took that. */
async function measureWith(
  sides: readonly Side[],
  { rounds }: Effort,
  { fsyncMs = 0, bodyBytes }: Load,
  figureOf: (met: Met, blockedMs: number) => number,
): Promise<Rates> {
  const load = new Pinned('inbox/connecting-child.js', [], { core: LOAD_CORE });
  try {
    return await interleave(sides, rounds, (side) =>
      inScratch(async (newFile) => {
        // Each time a fresh one: what a slow disk has left to do is not to be counted for the next.
        const server = new Pinned('inbox/server-child.js', [side.side], {
          core: SERVER_CORE,
          env: slowDisk(fsyncMs),
        });
        try {
          const port = await server.ask<number>('start');
          await server.ask({ path: newFile() });
          const before = await warmUp(() => load.ask<Met>({ port, seconds: SECONDS / 2, bodyBytes }));
          await server.ask('watch');
          const met = await load.ask<Met>({ port, seconds: SECONDS, bodyBytes });
          const blockedMs = await server.ask<number>('blocked');
          const stored = await server.ask<number>('close');
          check(side, met, stored, before + met.accepted + met.inFlight);
          return figureOf(met, blockedMs);
        } finally {
          await server.stop();
        }
      }),
    );
  } finally {
    await load.stop();
  }
}

/** Acknowledgements per second. */
export function measureConnections(sides: readonly Side[], effort: Effort, load: Load): Promise<Rates> {
  return measureWith(sides, effort, load, ({ perSecond }) => perSecond);
}

/** The longest time for which the event loop stood still, in ms. */
export function measureBlocked(sides: readonly Side[], effort: Effort, load: Load): Promise<Rates> {
  return measureWith(sides, effort, load, (_met, blockedMs) => blockedMs);
}

/** Until nothing is refused: on a slow disk it takes seconds to make a file. @returns how many were acknowledged. */
async function warmUp(ask: () => Promise<Met>): Promise<number> {
  let acknowledged = 0;
  for (let times = 0; times < MAX_WARM_UPS; times += 1) {
    const { accepted, inFlight, other } = await ask();
    acknowledged += accepted + inFlight;
    if (other === 0) break;
  }
  return acknowledged;
}

function check(side: Side, met: Met, stored: number, acknowledged: number): void {
  const isWrong = met.other > 0 || stored !== acknowledged || (side.side === 'ours' && met.dead > 0);
  if (!isWrong) return;
  throw new Error(
    `${sideName(side)}: ${String(acknowledged)} acknowledged, ${String(met.other)} not, ${String(stored)} stored; ${String(met.dead)} health checks failed.`,
  );
}
