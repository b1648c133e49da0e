import { createInbox } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import pg from 'pg';
import { BODY, headersOf, isAcknowledged } from '../inbox/sample.ts';
import { percentile } from '../statistics.ts';

const PER_SECOND = 1000;
const KEYS = 10;
const TICK_MS = 5;
const WORKERS = 20;

/** The 99th percentiles of calls of the store, in milliseconds, and how many deliveries were completed per second. */
export interface Calls {
  readonly claimMs: number;
  readonly putMs: number;
  readonly completedPerS: number;
}

/** An inbox under a steady load, before and while another program leaves a transaction open. */
export interface OpenTransaction {
  readonly without: Calls;
  readonly held: Calls;
}

export async function openTransaction(
  connectionString: string,
  name: string,
  { seconds, heldSeconds }: { readonly seconds: number; readonly heldSeconds: number },
): Promise<OpenTransaction> {
  const store = postgresStore({ connectionString }, { schema: name });
  const times: Record<'claim' | 'put', number[]> = { claim: [], put: [] };
  const claim = store.claim.bind(store);
  const put = store.put.bind(store);
  store.claim = async (...options) => await time(times.claim, () => claim(...options));
  store.put = async (...options) => await time(times.put, () => put(...options));
  const inbox = createInbox({
    store,
    verify: false,
    process: () => undefined,
    concurrency: WORKERS,
    keyGenerator: (request) => `shop ${String(request.headers['x-shop'])}`,
    capacity: 1e8,
    maxBytes: 1e13,
  });
  const measure = async (forSeconds: number): Promise<Calls> => {
    times.claim = [];
    times.put = [];
    const before = inbox.snapshot().totals.completed;
    await load(inbox, forSeconds);
    return {
      claimMs: percentile(times.claim, 0.99),
      putMs: percentile(times.put, 0.99),
      completedPerS: (inbox.snapshot().totals.completed - before) / forSeconds,
    };
  };
  await load(inbox, 2);
  const without = await measure(seconds);
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT 1');
  await load(inbox, Math.max(0, heldSeconds - seconds));
  // The end of the time is the worst.
  const held = await measure(seconds);
  await client.end();
  await inbox.close({ timeoutMs: 2000 });
  return { without, held };
}

let sent = 0;

async function load(inbox: ReturnType<typeof createInbox>, seconds: number): Promise<void> {
  const body = Buffer.from(BODY);
  const startMs = performance.now();
  const sending: Promise<unknown>[] = [];
  for (let count = 0; count < seconds * PER_SECOND;) {
    const due = Math.min(seconds * PER_SECOND, ((performance.now() - startMs) / 1000) * PER_SECOND);
    for (; count < due; count += 1) {
      sent += 1;
      const headers = { ...headersOf(`t${String(sent)}`), 'x-shop': String(sent % KEYS) };
      const receiving = inbox.receive({
        headers,
        hint: '',
        read: (sink) => {
          sink.add(body);
          return Promise.resolve('whole');
        },
      });
      sending.push(receiving.then((taken) => isAcknowledged(taken?.status)));
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(sending);
}

async function time<T>(times: number[], call: () => T | PromiseLike<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await call();
  times.push(performance.now() - startedMs);
  return result;
}
