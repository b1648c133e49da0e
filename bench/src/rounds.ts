import type { Answers } from './http/load-child.ts';
import { progress } from './command-line.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from './pinned.ts';
import type { Comparison, Side } from './plan.ts';

/** How long and how often. */
export interface Effort {
  readonly rounds: number;
  readonly coreSeconds: number;
  readonly httpSeconds: number;
  readonly warmUpSeconds: number;
  readonly inboxSeconds: number;
}

/** The rates of each side, or what else was measured of it, one for each round, under the name of {@link sideName}. */
export type Rates = ReadonlyMap<string, readonly number[]>;

export function sideName({ group, side }: Side): string {
  return `${group}:${side}`;
}

export function sidesOf({ ours, base, peers }: Comparison, withPeers: boolean): Side[] {
  const all = [ours, base, ...(withPeers ? peers.flatMap((peer) => [peer.side, peer.base]) : [])];
  return [...new Map(all.map((side) => [sideName(side), side])).values()];
}

/** Every side once in each round, in one order and then in the other, so that drift favors no side. */
export async function interleave(
  sides: readonly Side[],
  rounds: number,
  take: (side: Side) => Promise<number>,
): Promise<Rates> {
  const rates = new Map<string, number[]>(sides.map((side) => [sideName(side), []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      rates.get(sideName(side))?.push(await take(side));
    }
  }
  return rates;
}

/** What runs in one process, both sides in turn. */
export async function measureCore(comparison: Comparison, effort: Effort): Promise<Rates> {
  progress(comparison.name);
  const child = new Pinned('core/child.js', [], {
    core: SERVER_CORE,
    nodeFlags: ['--expose-gc', '--max-old-space-size=8192'],
  });
  try {
    const take = ({ side }: Side): Promise<number> =>
      child.ask<number>({ side, seconds: effort.coreSeconds });
    const sides = sidesOf(comparison, false);
    // The first round compiles and does not count.
    await interleave(sides, 1, take);
    return await interleave(sides, effort.rounds, take);
  } finally {
    await child.stop();
  }
}

/**
 * What is asked over HTTP: a server for each side, and one process that makes the load for one of them at a time. No
 * other server is there meanwhile: also one that only waits has timers, and takes the caches of the core with them.
 */
export async function measureHttp(
  comparison: Comparison,
  effort: Effort,
  withPeers: boolean,
): Promise<Rates> {
  progress(comparison.name);
  const load = new Pinned('http/load-child.js', [], { core: LOAD_CORE });
  const sides = sidesOf(comparison, withPeers);
  const servers = new Map<string, { child: Pinned; port: number }>();
  try {
    for (const side of sides) {
      const child = new Pinned('http/server-child.js', [side.group, side.side], { core: SERVER_CORE });
      servers.set(sideName(side), { child, port: 0 });
      const port = await child.ask<number>('start');
      servers.set(sideName(side), { child, port });
    }
    const takeFor =
      (seconds: number) =>
      async (side: Side): Promise<number> => {
        const server = servers.get(sideName(side));
        if (server === undefined) throw new Error(`${sideName(side)} was not started.`);
        const before = await server.child.ask<number>('used');
        const answers = await load.ask<Answers>({ port: server.port, seconds });
        const used = (await server.child.ask<number>('used')) - before;
        return check(side, answers) / used;
      };
    await interleave(sides, 1, takeFor(effort.warmUpSeconds));
    return await interleave(sides, effort.rounds, takeFor(effort.httpSeconds));
  } finally {
    for (const { child } of servers.values()) await child.stop();
    await load.stop();
  }
}

/** A side that answers otherwise than it is meant to is not measured: being fast at the wrong thing is easy. */
function check(side: Side, { ok, refused, other }: Answers): number {
  const [right, wrong] = side.group.endsWith('/refuse') ? [refused, ok] : [ok, refused];
  if (wrong + other > 0 || right === 0) {
    throw new Error(
      `${sideName(side)}: ${String(ok)} admitted, ${String(refused)} refused, ${String(other)} failed.`,
    );
  }
  return right;
}
