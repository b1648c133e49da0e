import { hasFlag, numberOption, progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { Pinned, SERVER_CORE } from '../pinned.ts';
import { percentile, sum } from '../statistics.ts';
import { write } from '../write.ts';
import type { Order as BucketOrder } from './buckets-child.ts';
import type { Delivered, Order } from './delivering-child.ts';
import type { Neighborhood } from './neighbors-child.ts';
import type { Asked } from './refusing-server.ts';
import { figuresOf, senderReport, type Neighbors, type Turn } from './report.ts';
import type { Honored } from './retrying-child.ts';
import { withServers, type Servers } from './servers.ts';

const SIDES = ['memory', 'SQLite', 'PostgreSQL', 'BullMQ'] as const;
const isQuick = hasFlag('quick');
const rounds = numberOption('rounds', isQuick ? 1 : 3);
const seconds = numberOption('seconds', isQuick ? 2 : 4);
const neighborSeconds = isQuick ? 6 : 20;
/** RetryAgent waits for 30 s at most. */
const FORMS: readonly Asked[] = [
  { seconds: 1, isDate: false },
  { seconds: 2, isDate: true },
  ...(isQuick ? [] : [{ seconds: 35, isDate: false }]),
];

/** They share the buckets in Redis. */
const PROCESSES = 4;

const machine = describeMachine();
const turns: Turn[] = [];
const { neighbors, sharedMs } = await withServers(async (servers) => {
  // The first round compiles and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const turn = await deliver(servers, side, `round_${String(round)}`);
      progress(`${side}: ${String(Math.round(turn.perSecond))} per second`);
      if (round > 0) turns.push(turn);
    }
  }
  const found: Neighbors = {
    alone: await besides(servers, false),
    besidesBad: await besides(servers, true),
  };
  const { redisPort } = servers.places('none');
  const order: BucketOrder = { redisPort, seconds: seconds + 1, perSecond: 1000 / PROCESSES };
  const taking = Array.from({ length: PROCESSES }, () =>
    ask<readonly number[]>('sender/buckets-child.js', order),
  );
  return { neighbors: found, sharedMs: percentile((await Promise.all(taking)).flat(), 0.99) };
});
const honored = await ask<readonly Honored[]>('sender/retrying-child.js', FORMS);
const localNs = await ask<number>('sender/buckets-child.js', 'local');

const figures = figuresOf({ turns, neighbors, honored, localNs, sharedMs });
process.stdout.write(`${JSON.stringify(figures)}\n`);
if (!isQuick) {
  await write('sender/results.json', JSON.stringify({ machine, figures }));
  await write('sender/report.md', senderReport(machine, figures));
}

async function deliver(servers: Servers, side: string, round: string): Promise<Turn> {
  const child = new Pinned('sender/delivering-child.js', [side], { core: SERVER_CORE });
  const order = <T>(asked: Order): Promise<T> => child.ask<T>(asked);
  try {
    const name = `${side.toLowerCase()}_${round}`;
    await order({ open: servers.places(name), name });
    await order({ deliverForSeconds: seconds / 2 });
    await servers.arrived();
    const delivered = await order<Delivered>({ deliverForSeconds: seconds });
    const requests = sum(Object.values(await servers.arrived()));
    if (requests !== delivered.events)
      throw new Error(`${side}: ${String(delivered.events)} delivered, ${String(requests)} requests.`);
    await order({ close: true });
    return {
      side,
      perSecond: delivered.events / delivered.seconds,
      perProcessorSecond: delivered.events / delivered.processorSeconds,
    };
  } finally {
    await child.stop();
  }
}

/** Requests that the 98 good endpoints got. */
async function besides(servers: Servers, hasBad: boolean): Promise<number> {
  const { receiverPort } = servers.places('none');
  await servers.arrived();
  const order: Neighborhood = { receiverPort, seconds: neighborSeconds, hasBad };
  await ask('sender/neighbors-child.js', order);
  const arrived = Object.entries(await servers.arrived());
  const good = arrived.filter(([path]) => path.startsWith('/ep_') && !['/ep_98', '/ep_99'].includes(path));
  const count = sum(good.map(([, requests]) => requests));
  progress(`98 endpoints${hasBad ? ' beside two bad ones' : ''}: ${String(count)} requests`);
  return count;
}

async function ask<T>(script: string, question: unknown): Promise<T> {
  const child = new Pinned(script, [], { core: SERVER_CORE });
  try {
    return await child.ask<T>(question);
  } finally {
    await child.stop();
  }
}
