import { answer } from '../pinned.ts';
import { callers, type Places } from './callers.ts';
import { CALLS, PROCESSES, type SideName } from './setup.ts';

/** What a process reports. */
export interface Called {
  readonly ok: number;
  /** Calls that were given up. */
  readonly failed: number;
  /** How often ours threw `RetryAfter`. */
  readonly delayed: number;
}

const [name] = process.argv.slice(2);
let caller: ReturnType<(typeof callers)[SideName]> | undefined;

answer(async (order: { open: Places } | 'call' | 'close'): Promise<unknown> => {
  if (typeof order === 'object') {
    caller = callers[name as SideName](order.open);
    // The first use of fetch blocks a process for a tenth of a second.
    await (await fetch(order.open.url)).arrayBuffer();
    return caller.ready;
  }
  if (caller === undefined) throw new Error('It is not open.');
  if (order === 'close') return caller.close?.();
  const { call } = caller;
  const counts = { ok: 0, failed: 0, delayed: 0 };
  await Promise.all(
    Array.from({ length: CALLS / PROCESSES }, async () => {
      try {
        const status = await call(() => (counts.delayed += 1));
        if (status === 200) counts.ok += 1;
        else counts.failed += 1;
      } catch {
        counts.failed += 1;
      }
    }),
  );
  return counts satisfies Called;
});
