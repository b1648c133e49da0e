import { createInbox } from '@webhook-backpressure/inbox';
import { answer } from '../pinned.ts';
import { ampleInbox } from './ample.ts';
import { countStored, queues } from './queues.ts';
import { BODY, headersOf, idAt, isAcknowledged } from './sample.ts';

const SENDERS = 64;

/** Takes one delivery; it is durable when the promise resolves. */
interface Taker {
  take(id: string): unknown;
  close(): unknown;
}

function ours(path: string): Taker {
  const inbox = createInbox(ampleInbox(path));
  const body = Buffer.from(BODY);
  return {
    take: async (id) => {
      const taken = await inbox.receive({
        headers: headersOf(id),
        hint: '',
        read: (sink) => {
          sink.add(body);
          return Promise.resolve('whole');
        },
      });
      if (!isAcknowledged(taken?.status)) throw new Error(`It was answered with ${JSON.stringify(taken)}.`);
    },
    close: () => inbox.close({ timeoutMs: 0 }),
  };
}

function theirs(side: string, path: string): Taker {
  const open = queues.get(side);
  if (open === undefined) throw new Error(`There is no side ${side}.`);
  const queue = open(path);
  return {
    take: (id) => queue.store({ id, headers: headersOf(id), body: BODY }),
    close: () => {
      queue.close();
    },
  };
}

const [side = ''] = process.argv.slice(2);

/** One turn, on a new file. Returns acknowledgements per second. */
answer(async ({ path, seconds }: { path: string; seconds: number }): Promise<number> => {
  const taker = side === 'ours' ? ours(path) : theirs(side, path);
  let taken = 0;
  const takeFor = async (ms: number): Promise<number> => {
    const [begin, before] = [performance.now(), taken];
    const send = async (): Promise<void> => {
      while (performance.now() - begin < ms) {
        await taker.take(idAt((taken += 1)));
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    return (taken - before) / ((performance.now() - begin) / 1000);
  };
  await takeFor(250 * seconds);
  const rate = await takeFor(1000 * seconds);
  await taker.close();
  const stored = countStored(path);
  if (stored !== taken) throw new Error(`${side}: ${String(taken)} acknowledged, ${String(stored)} stored.`);
  return rate;
});
