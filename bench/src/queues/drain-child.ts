import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';
import { idAt } from '../inbox/sample.ts';
import { drainers, type Drainer } from './drainers.ts';

/** First `store`, then `drain`. */
export type DrainOrder =
  { readonly store: number; readonly in: string; readonly schema: string } | { readonly drain: true };

/** How a backlog was drained, from the first call of the handler to the last. */
export interface Drained {
  readonly seconds: number;
  /** Of this process, from the beginning of its workers to the last completion. */
  readonly processorSeconds: number;
}

const [side = ''] = process.argv.slice(2);
let drainer: Drainer | undefined;
let ids: readonly string[] = [];

async function drain(from: Drainer): Promise<Drained> {
  const left = new Set(ids);
  const used = processorSeconds();
  let first = 0;
  const seconds = await new Promise<number>((resolve, reject) => {
    const handled = (id: string): void => {
      first ||= performance.now();
      if (!left.delete(id)) reject(new Error(`${side}: ${id} was handled twice.`));
      if (left.size === 0) resolve((performance.now() - first) / 1000);
    };
    from.begin(handled).catch(reject);
  });
  const stored = await from.end();
  if (stored !== 0) throw new Error(`${side}: ${String(stored)} were handled and are not completed.`);
  return { seconds, processorSeconds: processorSeconds() - used };
}

answer(async (order: DrainOrder): Promise<unknown> => {
  if ('store' in order) {
    const open = drainers.get(side);
    if (open === undefined) throw new Error(`There is no side ${side}.`);
    drainer = await open(order.in, order.schema);
    ids = Array.from({ length: order.store }, (_, at) => idAt(at));
    return drainer.store(ids).then(() => undefined);
  }
  if (drainer === undefined) throw new Error('Nothing is stored.');
  return drain(drainer);
});
