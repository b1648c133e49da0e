import { progress } from '../command-line.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import type { Comparison, Side } from '../plan.ts';
import { interleave, sideName, sidesOf, type Effort, type Rates } from '../rounds.ts';
import type { Acknowledged } from './load-child.ts';
import { measureBlocked, measureConnections } from './measure-connecting.ts';
import { inScratch } from './scratch.ts';
import type { Answered, Arrivals } from './steady-child.ts';

/** What is processed while new deliveries arrive … */
const BACKLOG = 50_000;
/** … at this rate: a small part of what the receiver could take. */
const ARRIVALS_PER_SECOND = 500;
/** For this long, or until the backlog is empty. */
const ARRIVING_SECONDS = 3;

/** A process for each side, for as long as `work` takes. */
async function withChildren<T>(
  sides: readonly Side[],
  script: string,
  work: (childOf: (side: Side) => Pinned) => Promise<T>,
): Promise<T> {
  const children = new Map<string, Pinned>();
  const childOf = (side: Side): Pinned => {
    const name = sideName(side);
    const child = children.get(name) ?? new Pinned(script, [side.side], { core: SERVER_CORE });
    children.set(name, child);
    return child;
  };
  try {
    for (const side of sides) childOf(side);
    return await work(childOf);
  } finally {
    for (const child of children.values()) await child.stop();
  }
}

/** Acknowledgements per second in process, each turn on a new file. */
async function measureDurable(sides: readonly Side[], effort: Effort): Promise<Rates> {
  return withChildren(sides, 'inbox/durable-child.js', (childOf) => {
    const take = (side: Side): Promise<number> =>
      inScratch((newFile) => childOf(side).ask<number>({ path: newFile(), seconds: effort.inboxSeconds }));
    return warmUpAndInterleave(sides, effort, take);
  });
}

/** The same over HTTP. */
async function measureOverHttp(sides: readonly Side[], effort: Effort): Promise<Rates> {
  return withLoad('inbox/load-child.js', (load) =>
    withChildren(sides, 'inbox/server-child.js', async (childOf) => {
      const ports = await portsOf(sides, childOf);
      const takeFor =
        (seconds: number) =>
        (side: Side): Promise<number> =>
          inScratch(async (newFile) => {
            const server = childOf(side);
            await server.ask({ path: newFile() });
            const port = ports.get(sideName(side));
            const answers = await load.ask<Acknowledged>({ port, seconds });
            const stored = await server.ask<number>('close');
            const { accepted, other, inFlight, perSecond } = answers;
            if (other > 0 || stored < accepted || stored > accepted + inFlight) {
              throw new Error(
                `${sideName(side)}: ${String(accepted)} acknowledged, ${String(other)} not, ${String(stored)} stored.`,
              );
            }
            return perSecond;
          });
      await interleave(sides, 1, takeFor(effort.warmUpSeconds / 2));
      return interleave(sides, effort.rounds, takeFor(effort.inboxSeconds));
    }),
  );
}

/** The 99th percentile of the time to the answer, in milliseconds. */
async function measureDraining(sides: readonly Side[], effort: Effort): Promise<Rates> {
  return withLoad('inbox/steady-child.js', (load) =>
    withChildren(sides, 'inbox/draining-child.js', async (childOf) => {
      const ports = await portsOf(sides, childOf);
      const take = (side: Side): Promise<number> =>
        inScratch(async (newFile) => {
          const isDraining = side.side === 'ours';
          const server = childOf(side);
          await server.ask({ path: newFile(), backlog: isDraining ? BACKLOG : 0 });
          const { accepted, other, p99Ms } = await load.ask<Answered>({
            port: ports.get(sideName(side)) ?? 0,
            perSecond: ARRIVALS_PER_SECOND,
            seconds: ARRIVING_SECONDS,
            whileDraining: isDraining,
          } satisfies Arrivals);
          const completed = await server.ask<number>('close');
          if (other > 0 || accepted === 0 || completed === 0) {
            throw new Error(
              `${sideName(side)}: ${String(accepted)} acknowledged, ${String(other)} not, ${String(completed)} processed.`,
            );
          }
          return p99Ms;
        });
      return warmUpAndInterleave(sides, effort, take);
    }),
  );
}

/** The first round compiles and does not count. */
async function warmUpAndInterleave(
  sides: readonly Side[],
  { rounds }: Effort,
  take: (side: Side) => Promise<number>,
): Promise<Rates> {
  await interleave(sides, 1, take);
  return interleave(sides, rounds, take);
}

async function withLoad<T>(script: string, work: (load: Pinned) => Promise<T>): Promise<T> {
  const load = new Pinned(script, [], { core: LOAD_CORE });
  try {
    return await work(load);
  } finally {
    await load.stop();
  }
}

async function portsOf(
  sides: readonly Side[],
  childOf: (side: Side) => Pinned,
): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  for (const side of sides) ports.set(sideName(side), await childOf(side).ask<number>('start'));
  return ports;
}

type Measure = (sides: readonly Side[], effort: Effort, comparison: Comparison) => Promise<Rates>;

/** By the part of a name before the `@`. */
const measures = new Map<string, Measure>([
  ['inbox/durable', measureDurable],
  ['inbox/http', measureOverHttp],
  ['inbox/draining', measureDraining],
  ['inbox/connections', measureConnections],
  ['inbox/blocked', measureBlocked],
]);

export async function measureInbox(
  comparison: Comparison,
  effort: Effort,
  withPeers: boolean,
): Promise<Rates> {
  progress(comparison.name);
  const [kind = ''] = comparison.name.split('@');
  const measure = measures.get(kind);
  if (measure === undefined) throw new Error(`There is no measure for ${comparison.name}.`);
  return measure(sidesOf(comparison, withPeers), effort, comparison);
}
