import { DurableInbox } from './durable-inbox.ts';
import type { Inbox } from './inbox.ts';
import type { InboxOptions } from './options/inbox-options.ts';
import type { ReceiverOptions, WorkerOptions } from './options/roles.ts';

/** The options of which one gives an inbox workers. */
const HANDLING = ['process', 'processBatch', 'on'];

/**
 * Creates an inbox and opens its store. While a store opens asynchronously, deliveries wait for it: see {@link Inbox.opened}.
 * In a build of Next.js or SvelteKit, which loads the modules of routes, the store stays closed.
 *
 * Without `process`, `processBatch` and `on` it is a receiver without workers: it verifies, stores and acknowledges deliveries, and the workers of
 * {@link createWorker}, or of other inboxes on the same store, handle them.
 *
 * @throws BackpressureError with the code of the first option that is wrong; also what the store throws synchronously
 * when it cannot be opened.
 */
export function createInbox<R = unknown>(options: InboxOptions<R> | ReceiverOptions<R>): Inbox {
  // An option that is null or invalid is not absent.
  const given: Readonly<Record<string, unknown>> = { ...(options as object | undefined) };
  const hasWorkers = HANDLING.some((name) => given[name] !== undefined);
  return new DurableInbox(options, hasWorkers ? 'both' : 'receiver');
}

/**
 * Creates workers without a receiver: they handle the deliveries that receivers in other processes store. Close it on a
 * signal, as an inbox. Its `receive` rejects with `ERR_WBP_ROLE`.
 *
 * @throws BackpressureError with the code of the first option that is wrong; also what the store throws synchronously
 * when it cannot be opened.
 *
 * @example
 * ```ts
 * const worker = createWorker({ store: postgresStore({ connectionString }), process: work })
 * closeOnSignals(worker)
 * ```
 */
export function createWorker(options: WorkerOptions): Inbox {
  return new DurableInbox(options, 'worker');
}
