import { endChildren } from './children.ts';
import { count } from './format.ts';
import { brokenInboxPromises, inboxProgress, inboxTable } from './inbox-report.ts';
import { runInbox } from './inbox-run.ts';
import { optionsFrom } from './options.ts';
import { createProgress } from './progress.ts';
import { run, type RunResult, type Watcher } from './run.ts';
import { IMPORT, POOL, RUN_LIMIT_MS, SENDER } from './setup.ts';
import { table } from './table.ts';
import { brokenPromises } from './verdict.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const interrupted = new AbortController();
for (const [signal, exitCode] of Object.entries(SIGNALS)) {
  process.once(signal, () => {
    process.exitCode = exitCode;
    interrupted.abort(new Error(`Ended by ${signal}.`));
  });
}

// Who reads this may have seen enough and closed the pipe, as `head` does.
process.stdout.on('error', () => process.exit(1));

try {
  const { deliveries, isInbox } = optionsFrom(process.argv.slice(2));
  await (isInbox ? showInbox(deliveries) : showMiddleware(deliveries));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode ??= 1;
} finally {
  await endChildren();
}

async function showMiddleware(deliveries: number): Promise<void> {
  process.stdout.write(
    `A bulk import fires ${count(deliveries)} signed webhooks, ${count(IMPORT.perSecond)} a second, at an Express app ` +
      `whose handler needs one of\n${String(POOL.max)} pooled connections for about 50 ms: 200 a second. ` +
      `The sender makes up to ${String(SENDER.backoffMs.length + 1)} attempts and obeys Retry-After.\n\n`,
  );
  const without = await watched(false, deliveries);
  const guarded = await watched(true, deliveries);
  process.stdout.write(`${table([without, guarded])}\n\n`);
  conclude(
    brokenPromises(guarded).map((promise) => `With the middleware on, ${promise}`),
    'With the middleware on nothing was lost, and the queue stayed within its bound.',
  );
}

async function showInbox(deliveries: number): Promise<void> {
  process.stdout.write(
    `A bulk import fires ${count(deliveries)} signed webhooks, ${count(IMPORT.perSecond)} a second, at an Express app ` +
      `with an inbox: it acknowledges each\none when it is on the disk, and works it off later, ` +
      `${String(POOL.max)} at once for about 50 ms: 200 a second. Twice it is killed (SIGKILL).\n\n`,
  );
  const watch = inboxProgress(
    (line) => process.stdout.write(`${line}\n`),
    () => performance.now(),
  );
  const result = await limited((signal) => runInbox(deliveries, watch, signal));
  process.stdout.write(`\n${inboxTable(result)}\n\n`);
  conclude(
    brokenInboxPromises(result).map((promise) => `With the inbox, ${promise}`),
    'Nothing that was acknowledged was lost.',
  );
}

function conclude(broken: readonly string[], praise: string): void {
  for (const promise of broken) process.stderr.write(`${promise}\n`);
  if (broken.length > 0) process.exitCode = 1;
  else process.stdout.write(`${praise}\n`);
}

async function watched(isGuarded: boolean, deliveries: number): Promise<RunResult> {
  const progress = createProgress(process.stdout, () => performance.now());
  const title = isGuarded ? 'with' : 'without';
  try {
    const watch: Watcher = (receiver, sender) => {
      progress.show(title, receiver, sender);
    };
    return await limited((signal) => run(isGuarded, deliveries, watch, signal));
  } finally {
    process.stdout.write('\n');
  }
}

/** Gives up what takes too long, and what the user has interrupted. */
async function limited<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => {
    limit.abort(new Error(`The run took longer than ${String(RUN_LIMIT_MS / 1000)} s.`));
  }, RUN_LIMIT_MS);
  try {
    return await action(AbortSignal.any([limit.signal, interrupted.signal]));
  } finally {
    clearTimeout(timer);
  }
}
