import { randomUUID } from 'node:crypto';
import { createInbox } from '@webhook-backpressure/inbox';
import { answer } from '../pinned.ts';
import { ampleInbox } from './ample.ts';
import { fill } from './backlog.ts';
import { BODY, headersOf, isAcknowledged } from './sample.ts';

/** So many arrive, and so many are processed, so that everything has been used and as many are stored as before. */
const PASSING = 5000;
const SENDERS = 64;
const LOOK_MS = 20;

/** `count`: so many are stored in a new file. Without: what a receiver takes that works on it, in bytes of RSS. */
interface Question {
  readonly path: string;
  readonly count?: number;
}

answer(async ({ path, count }: Question): Promise<number> => {
  if (count !== undefined) {
    await fill(path, count);
    return count;
  }
  return residentBytes(path);
});

async function residentBytes(path: string): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('To be run with --expose-gc.');
  const ample = ampleInbox(path);
  let handled = 0;
  const inbox = createInbox({
    ...ample,
    concurrency: 10,
    process: (delivery, context) => {
      handled += 1;
      return handled > PASSING ? ample.process?.(delivery, context) : undefined;
    },
  });
  const before = inbox.snapshot().depth;
  const body = Buffer.from(BODY);
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < PASSING) {
      sent += 1;
      const taken = await inbox.receive({
        headers: headersOf(randomUUID()),
        hint: '',
        read: (sink) => {
          sink.add(body);
          return Promise.resolve('whole');
        },
      });
      if (!isAcknowledged(taken?.status)) throw new Error(`It was answered with ${JSON.stringify(taken)}.`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  while (inbox.snapshot().totals.completed < PASSING)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  if (inbox.snapshot().depth !== before) throw new Error('As many as before should be stored.');
  gc();
  gc();
  const { rss } = process.memoryUsage();
  await inbox.close({ timeoutMs: 0 });
  return rss;
}
