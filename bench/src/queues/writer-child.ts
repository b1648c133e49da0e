import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';
import { idAt } from '../inbox/sample.ts';
import { writers, type Servers, type Writer } from './writers.ts';

const SENDERS = 64;

/** What a side is asked for: first `open`, then `write`, several times, then `close`. */
export type Order =
  | { readonly open: Servers; readonly name: string }
  | { readonly writeForSeconds: number }
  | { readonly close: true };

/** What came of writing for so long. */
export interface Written {
  readonly acknowledged: number;
  readonly seconds: number;
  /** Of this process. */
  readonly processorSeconds: number;
}

const [side = ''] = process.argv.slice(2);
let writer: Writer | undefined;
let taken = 0;

async function write(forSeconds: number): Promise<Written> {
  if (writer === undefined) throw new Error('It is not open.');
  const opened = writer;
  const [begin, before, used] = [performance.now(), taken, processorSeconds()];
  const send = async (): Promise<void> => {
    while (performance.now() - begin < 1000 * forSeconds) await opened.write(idAt((taken += 1)));
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return {
    acknowledged: taken - before,
    seconds: (performance.now() - begin) / 1000,
    processorSeconds: processorSeconds() - used,
  };
}

answer(async (order: Order): Promise<unknown> => {
  if ('open' in order) {
    const open = writers.get(side);
    if (open === undefined) throw new Error(`There is no side ${side}.`);
    taken = 0;
    writer = await open(order.open, order.name);
    return undefined;
  }
  if ('writeForSeconds' in order) return write(order.writeForSeconds);
  const stored = await writer?.count();
  await writer?.close();
  if (stored !== taken) throw new Error(`${side}: ${String(taken)} acknowledged, ${String(stored)} stored.`);
  return undefined;
});
