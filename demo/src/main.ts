import { endChildren } from './children.ts';
import { count } from './format.ts';
import { deliveriesFrom } from './options.ts';
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
  const deliveries = deliveriesFrom(process.argv.slice(2));
  process.stdout.write(
    `A bulk import fires ${count(deliveries)} signed webhooks, ${count(IMPORT.perSecond)} a second, at an Express app ` +
      `whose handler needs one of\n${String(POOL.max)} pooled connections for about 50 ms: 200 a second. ` +
      `The sender makes up to ${String(SENDER.backoffMs.length + 1)} attempts and obeys Retry-After.\n\n`,
  );
  const without = await watched(false, deliveries);
  const guarded = await watched(true, deliveries);
  process.stdout.write(`${table([without, guarded])}\n\n`);

  const broken = brokenPromises(guarded);
  for (const promise of broken) process.stderr.write(`With the middleware on, ${promise}\n`);
  if (broken.length > 0) process.exitCode = 1;
  else
    process.stdout.write('With the middleware on nothing was lost, and the queue stayed within its bound.\n');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode ??= 1;
} finally {
  await endChildren();
}

async function watched(isGuarded: boolean, deliveries: number): Promise<RunResult> {
  const progress = createProgress(process.stdout, () => performance.now());
  const limit = new AbortController();
  const timer = setTimeout(() => {
    limit.abort(new Error(`The run took longer than ${String(RUN_LIMIT_MS / 1000)} s.`));
  }, RUN_LIMIT_MS);
  const title = isGuarded ? 'with' : 'without';
  try {
    const watch: Watcher = (receiver, sender) => {
      progress.show(title, receiver, sender);
    };
    return await run(isGuarded, deliveries, watch, AbortSignal.any([limit.signal, interrupted.signal]));
  } finally {
    clearTimeout(timer);
    process.stdout.write('\n');
  }
}
