import { endChildren } from './children.ts';
import { brokenFleetPromises, FleetProgress, fleetTable, whyTwice } from './fleet-report.ts';
import { runFleet, type FleetWatcher } from './fleet-run.ts';
import { count } from './format.ts';
import { brokenInboxPromises, inboxProgress, inboxTable } from './inbox-report.ts';
import { runInbox } from './inbox-run.ts';
import { type DemoOptions, HELP, optionsFrom, UsageError } from './options.ts';
import { startPostgres } from './postgres-server.ts';
import { createProgress } from './progress.ts';
import { run, type RunResult, type Watcher } from './run.ts';
import { RunTookTooLong } from './run-took-too-long.ts';
import { BULK, FLEET, IMPORT, PATIENT_RUN_MS, POOL, RUN_LIMIT_MS, SENDER, WARM_UP } from './setup.ts';
import { brokenSenderPromises, senderProgress, senderSummary, senderTable } from './sender-report.ts';
import { runSender } from './sender-run.ts';
import { fittingSize, IDEAL_WARM_UP_S, smallerSize } from './size.ts';
import { table } from './table.ts';
import { brokenPromises } from './verdict.ts';
import { watch } from './watch.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const interrupted = new AbortController();
for (const [signal, exitCode] of Object.entries(SIGNALS)) {
  // npm passes on the signal that the terminal has sent to all: the second one must not end the demo early.
  process.on(signal, () => {
    process.exitCode = exitCode;
    interrupted.abort(new Error(`Ended by ${signal}.`));
  });
}

const OTHER_DEMOS = `Other demos:
  npm run demo -- --inbox   an inbox whose process is killed twice
  npm run demo -- --fleet   receivers, workers and their PostgreSQL, all killed
  npm run demo -- --sender  a sender and three receivers: fast, limited, hanging
  npm run demo -- --watch   the live page, under waves of load`;

// A reader such as `head` may close the pipe early.
process.stdout.on('error', () => process.exit(1));

try {
  const options = optionsFrom(process.argv.slice(2));
  if (options === undefined) process.stdout.write(`${HELP}\n`);
  else await show(options);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${reason}${isUsage ? ' Try --help.' : ''}\n`);
  process.exitCode ??= isUsage ? 2 : 1;
} finally {
  await endChildren();
}

async function show(options: DemoOptions): Promise<void> {
  const { deliveries, isSizeFixed, isInbox, isFleet, isSender, isWatch, port } = options;
  if (isWatch) await showPage(port);
  else if (isSender) await showSender(deliveries, isSizeFixed);
  else if (isFleet) await showFleet(deliveries, isSizeFixed);
  else await (isInbox ? showInbox(deliveries) : showMiddleware(deliveries, isSizeFixed));
}

async function showMiddleware(deliveries: number, isSizeFixed: boolean): Promise<void> {
  process.stdout.write(
    `A bulk import sends ${count(deliveries)} signed webhooks, ${count(IMPORT.perSecond)} a second, to an Express app.\n` +
      `Its handler needs one of ${String(POOL.max)} pooled connections for about 50 ms: 200 a second.\n` +
      `The sender makes up to ${String(SENDER.backoffMs.length + 1)} attempts and honors Retry-After.\n\n`,
  );
  const [without, guarded] = await (isSizeFixed ? both(() => deliveries) : fitting(deliveries));
  process.stdout.write(`${table([without, guarded])}\n\n`);
  conclude(
    brokenPromises(guarded).map((promise) => `With the middleware, ${promise}`),
    'With the middleware, no delivery was lost and the queue stayed within its bound.',
  );
  process.stdout.write(`\n${OTHER_DEMOS}\n`);
}

type Both = readonly [without: RunResult, guarded: RunResult];

/** The same import without the middleware and with it. */
async function both(sizeOf: (warmUpS: number) => number, limitMs = RUN_LIMIT_MS): Promise<Both> {
  const without = await watched(false, sizeOf, limitMs);
  return [without, await watched(true, () => without.sender.deliveries, limitMs)];
}

/** Takes as many deliveries as a busy machine can handle in half a minute, and says so. */
async function fitting(wanted: number): Promise<Both> {
  const sizeOf = (warmUpS: number): number => announced(wanted, fittingSize(wanted, warmUpS), warmUpS);
  try {
    return await both(sizeOf, PATIENT_RUN_MS);
  } catch (error) {
    const smaller = smallerSize(wanted);
    if (!(error instanceof RunTookTooLong) || smaller === undefined) throw error;
    process.stdout.write(
      `This machine is too busy: ${error.message}\nBoth runs start again with ${count(smaller)} deliveries.\n\n`,
    );
    return both(() => smaller);
  }
}

/** Says so if there will be fewer deliveries than wanted. */
function announced(wanted: number, size: number, warmUpS: number): number {
  if (size < wanted) {
    process.stdout.write(
      `This machine is busy: ${count(WARM_UP.deliveries)} requests took ${warmUpS.toFixed(1)} s ` +
        `instead of ${IDEAL_WARM_UP_S.toFixed(1)} s.\nThe import has ${count(size)} deliveries instead.\n\n`,
    );
  }
  return size;
}

async function showInbox(deliveries: number): Promise<void> {
  process.stdout.write(
    `A bulk import sends ${count(deliveries)} signed webhooks, ${count(IMPORT.perSecond)} a second, to an Express app\n` +
      `with an inbox. The inbox acknowledges a delivery when it is on the disk, and\nprocesses it later: ` +
      `${String(POOL.max)} concurrently, about 50 ms each, 200 a second.\nThe process is killed (SIGKILL) twice.\n\n`,
  );
  const watch = inboxProgress(
    (line) => process.stdout.write(`${line}\n`),
    () => performance.now(),
  );
  const result = await limited((signal) => runInbox(deliveries, watch, signal));
  process.stdout.write(`\n${inboxTable(result)}\n\n`);
  conclude(
    brokenInboxPromises(result).map((promise) => `With the inbox, ${promise}`),
    'Every acknowledged delivery was processed.',
  );
}

async function showFleet(deliveries: number, isSizeFixed: boolean): Promise<void> {
  process.stdout.write(
    `A bulk import sends ${count(deliveries)} signed webhooks, ${count(IMPORT.perSecond)} a second, to ` +
      `${String(FLEET.receivers)} receivers.\n` +
      `They share an inbox of ${count(FLEET.capacity)} with ${String(FLEET.workers)} workers, on one PostgreSQL. ` +
      `Each worker\nhandles ${String(POOL.max)} deliveries concurrently, about 50 ms each. ` +
      `The sender honors\nRetry-After. A receiver, a worker and the database are killed and restarted.\n\n`,
  );
  const server = await startPostgres().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`This demo needs PostgreSQL, which cannot be started here.\n${reason}`);
  });
  try {
    const progress = new FleetProgress(
      (line) => process.stdout.write(`${line}\n`),
      () => performance.now(),
    );
    const watcher: FleetWatcher = {
      sizeOf: (warmUpS) =>
        isSizeFixed ? deliveries : announced(deliveries, fittingSize(deliveries, warmUpS), warmUpS),
      progress(moment) {
        progress.moment(moment);
      },
      death(name, downMs) {
        progress.death(name, downMs);
      },
    };
    const result = await limited((signal) => runFleet(server, watcher, signal));
    process.stdout.write(`\n${fleetTable(result)}\n\n${whyTwice}\n\n`);
    conclude(brokenFleetPromises(result), 'No acknowledged delivery was lost.');
  } finally {
    await server.stop();
  }
}

async function showSender(wanted: number, isSizeFixed: boolean): Promise<void> {
  process.stdout.write(
    `A bulk import of ${count(wanted)} events through one sender, whose outbox is on the disk,\n` +
      'to three receivers: a fast one, one with the middleware that can do 200 a\n' +
      'second, and one that never answers. Each is a process.\n' +
      'The sender is set to 1,000 a second for the second one: it has to learn.\n\n',
  );
  const sizeOf = (warmUpS: number): number => {
    const size = isSizeFixed ? wanted : fittingSize(wanted, warmUpS, BULK.warmUpS);
    if (size < wanted)
      process.stdout.write(`This machine is busy: the import has ${count(size)} events.\n\n`);
    return size;
  };
  const progress = senderProgress(
    (line) => process.stdout.write(`${line}\n`),
    () => performance.now(),
  );
  const result = await limited((signal) => runSender(sizeOf, progress, signal));
  process.stdout.write(`\n${senderTable(result)}\n\n`);
  conclude(brokenSenderPromises(result), senderSummary(result));
}

async function showPage(port: number): Promise<void> {
  const onListening = (url: string): void => {
    process.stdout.write(
      `Live page of an Express app with the middleware and an inbox:\n\n  ${url}\n\n` +
        `Its handlers take about 50 ms, ${String(POOL.max)} concurrently: 200 a second.\n` +
        'A burst of 500 a second begins every minute, the first in 6 s. Ctrl-C ends it.\n',
    );
  };
  await watch(port, onListening, interrupted.signal);
  // A signal is the intended end.
  process.exitCode = 0;
}

function conclude(broken: readonly string[], praise: string): void {
  for (const promise of broken) process.stderr.write(`${promise}\n`);
  if (broken.length > 0) process.exitCode = 1;
  else process.stdout.write(`${praise}\n`);
}

async function watched(
  isGuarded: boolean,
  sizeOf: (warmUpS: number) => number,
  limitMs: number,
): Promise<RunResult> {
  const progress = createProgress(process.stdout, () => performance.now());
  const title = isGuarded ? 'with' : 'without';
  try {
    const watcher: Watcher = {
      page(url) {
        process.stdout.write(`Live page while this runs: ${url}\n`);
      },
      progress(receiver, sender) {
        progress.show(title, receiver, sender);
      },
    };
    return await limited((signal) => run(isGuarded, sizeOf, watcher, signal), limitMs);
  } finally {
    process.stdout.write('\n');
  }
}

/** Ends a run that takes too long, or that the user has interrupted. */
async function limited<T>(action: (signal: AbortSignal) => Promise<T>, limitMs = RUN_LIMIT_MS): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => {
    limit.abort(new RunTookTooLong(limitMs));
  }, limitMs);
  try {
    return await action(AbortSignal.any([limit.signal, interrupted.signal]));
  } finally {
    clearTimeout(timer);
  }
}
