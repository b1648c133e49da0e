import { createIntake, type Admission, type Permit, type Refusal } from '@webhook-backpressure/core';
import { admitReleaseIn } from '../core/deep.ts';
import { PausedClock } from '../core/paused-clock.ts';
import { heap } from '../heap.ts';
import { answer } from '../pinned.ts';
import { processorSeconds } from '../processor-time.ts';

/** How many wait, and of how many keys. */
export interface Size {
  readonly depth: number;
  readonly keys: number;
}

export interface Growth extends Size {
  /** One admission and one release, through the whole queue. */
  readonly microseconds: number;
  /** Heap for each that waits. */
  readonly bytesPerWaiting: number;
  /** Whether each started once and in its turn, and the totals add up at every step. */
  readonly isExact: boolean;
}

const BATCH = 2000;
const SECONDS = 0.6;
/** The totals are looked at so often: each look reads a snapshot. */
const LOOKS = 1000;
const DAY_MS = 86_400_000;

answer(async ({ depth, keys }: Size): Promise<Growth> => {
  const microseconds = await cost({ depth, keys });
  return { depth, keys, microseconds, ...(await fillAndDrain({ depth, keys })) };
});

async function cost(size: Size): Promise<number> {
  const run = admitReleaseIn(size);
  await run(BATCH);
  const begin = processorSeconds();
  let count = 0;
  for (; processorSeconds() - begin < SECONDS; count += BATCH) await run(BATCH);
  return ((processorSeconds() - begin) / count) * 1e6;
}

/** Lets all of them in, and works them off one after another. */
async function fillAndDrain({ depth, keys }: Size): Promise<Pick<Growth, 'bytesPerWaiting' | 'isExact'>> {
  const deliveries = Array.from({ length: depth }, (_, i) => ({ key: `key-${String(i % keys)}` }));
  const admissions = new Array<Admission | undefined>(depth).fill(undefined);
  const clock = new PausedClock();
  const intake = createIntake({
    clock,
    concurrency: 1,
    capacity: 2 * depth + 10,
    maxWaitMs: DAY_MS,
    maxHandlingMs: DAY_MS,
  });
  const first = intake.admit();
  if (!first.admitted || first.permit instanceof Promise) throw new Error('The first one did not start.');
  const before = heap();
  for (const [i, delivery] of deliveries.entries()) {
    const admission = intake.admit(delivery);
    if (!admission.admitted) throw new Error('It was refused.');
    admissions[i] = admission;
  }
  const bytesPerWaiting = (heap() - before) / depth;
  clock.go();

  let isExact = intake.snapshot().depth === depth && intake.snapshot().keys === Math.min(depth, keys);
  let current: Permit | Refusal = first.permit;
  for (const [i, admission] of admissions.entries()) {
    if (!current.admitted) return { bytesPerWaiting, isExact: false };
    current.release();
    // Keys take turns, so this one has started.
    const next: Permit | Refusal | null = await Promise.race([admission?.permit ?? null, later()]);
    if (next === null) return { bytesPerWaiting, isExact: false };
    current = next;
    if (i % Math.ceil(depth / LOOKS) !== 0) continue;
    // A snapshot reads the clock, which would make the handlers of every tenth key slower, and so change whose turn it is.
    clock.pause();
    isExact &&= addsUp(intake.snapshot());
    clock.go();
  }
  if (current.admitted) current.release();
  const end = intake.snapshot();
  isExact &&= addsUp(end) && end.depth === 0 && end.active === 0 && end.keys === 0;
  return { bytesPerWaiting, isExact: isExact && end.totals.completed === depth + 1 };
}

/** Null, some turns of the queue of promises later. */
async function later(): Promise<null> {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
  return null;
}

function addsUp({ depth, active, totals }: ReturnType<ReturnType<typeof createIntake>['snapshot']>): boolean {
  const withdrawn = Object.values(totals.withdrawn).reduce((all, count) => all + count, 0);
  return totals.admitted === totals.completed + totals.failed + active + depth + withdrawn;
}
