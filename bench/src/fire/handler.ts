import { memoryStore, verifiers, type InboxOptions } from '@webhook-backpressure/inbox';
import { setTimeout as wait } from 'node:timers/promises';
import { HANDLING_MS, SECRET, WORKERS } from './setup.ts';

export const LIMITS = { concurrency: WORKERS };
let free = WORKERS;
const waiting: (() => void)[] = [];

/** A handler that needs one of {@link WORKERS} connections to a database. */
export async function handle(): Promise<void> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  await wait(HANDLING_MS);
  const next = waiting.shift();
  if (next === undefined) free += 1;
  else next();
}

const github = verifiers.github({ secret: SECRET });
const svix = verifiers.svix({ secret: SECRET });
export const INBOX: InboxOptions = {
  ...LIMITS,
  store: memoryStore(),
  verify: (delivery) => ('svix-id' in delivery.headers ? svix : github)(delivery),
  process: handle,
};
