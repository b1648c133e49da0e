import { receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import type { Outcome } from '../connection/connection.ts';
import { useDriver } from '../connection/drivers.ts';
import type { Predecessor } from '../queue/owners.ts';
import { fileStore, type OpenOptions } from '../store/file-store.ts';
import {
  packError,
  sendableResult,
  type Entered,
  type Reply,
  type Request,
  type ThreadData,
} from './protocol.ts';

/** The program of the thread. It runs calls in the order of their arrival. */
const { port, settings, driver } = workerData as ThreadData & { readonly port: MessagePort };
if (driver !== undefined) useDriver(driver);
const store = fileStore(settings);

/** After this time without a call, the file is shrunk in steps. */
const IDLE_MS = 1000;
const BETWEEN_STEPS_MS = 20;

const idle = setTimeout(shrink, IDLE_MS);
let next: NodeJS.Timeout | undefined;

/**
 * Short writing calls. Those that arrive during a commit share the next one. An inbox moves deliveries that a filter has
 * found by their ids, so that there are many such calls.
 */
const SHARING = new Set<Request['call']>([
  ...(['put', 'claim', 'claimKeys', 'renew', 'settle'] as const),
  ...(['redrive', 'replay', 'purge'] as const),
]);
/** The most calls in a commit. If it fails, each of them may run again in its own commit. */
const MAX_TOGETHER = 16;

port.on('message', (request: Request) => {
  let last: Request | undefined = request;
  while (last !== undefined) last = answerFrom(last);
  idle.refresh();
  clearTimeout(next);
});

/** Runs a call, and the next calls that may share its commit. @returns the first call that may not. */
function answerFrom(first: Request): Request | undefined {
  const together = [first];
  let after: Request | undefined;
  while (SHARING.has(first.call) && together.length < MAX_TOGETHER) {
    const message = (receiveMessageOnPort(port) as { readonly message: Request } | undefined)?.message;
    if (message === undefined) break;
    if (!SHARING.has(message.call)) {
      after = message;
      break;
    }
    together.push(message);
  }
  const outcomes = store.together(together.map((request) => () => perform(request)));
  for (const [at, request] of together.entries()) answer(request, outcomes[at] as Outcome<unknown>);
  if (first.call === 'close') {
    // Without a timer and a port, the thread ends.
    clearTimeout(idle);
    port.close();
  }
  return after;
}

/** Runs one step, and schedules the next one. A call cancels it. */
function shrink(): void {
  let isMore = false;
  try {
    isMore = store.shrink();
  } catch {
    // A full disk, or a lock of another process. It is tried again when the thread is idle again.
  }
  if (isMore) next = setTimeout(shrink, BETWEEN_STEPS_MS);
}

function answer({ number, answered }: Request, outcome: Outcome<unknown>): void {
  try {
    if ('error' in outcome) throw outcome.error;
    const transfer: ArrayBuffer[] = [];
    const result = sendableResult(outcome.result, transfer);
    port.postMessage({ number, result } satisfies Reply, transfer);
  } catch (error) {
    port.postMessage({ number, error: packError(error) } satisfies Reply);
  }
  if (answered === undefined) return;
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

function perform({ call, args }: Request): unknown {
  if (call !== 'open') return (store[call] as (...values: readonly unknown[]) => unknown)(...args);
  const opened = store.open(...(args as [number, OpenOptions, Predecessor | undefined]));
  return { opened, owner: store.owner } satisfies Entered;
}
