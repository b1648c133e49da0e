import { createIntake, type Admission, type Intake } from '@webhook-backpressure/core';
import { dashboard } from '@webhook-backpressure/dashboard';
import { collect } from '@webhook-backpressure/prometheus';
import pLimit from 'p-limit';
import { Registry } from 'prom-client';
import { keyAt } from '../core/runs.ts';
import { Saturated } from '../core/saturated.ts';
import { heap } from '../heap.ts';
import { answer } from '../pinned.ts';

const PER_COMPLETION = 1000;
const WAITING = 100_000;

/** How much the heap grows by refusals, each with an id that was never seen before. */
async function afterRefusals(count: number): Promise<number> {
  const saturated = new Saturated();
  await saturated.complete();
  const before = heap();
  for (let i = 0; i < count; i += 1) {
    if (i % PER_COMPLETION === 0) {
      await saturated.complete();
      await saturated.complete();
    }
    if (saturated.intake.admit({ key: keyAt(i), id: `evt_${String(i)}` }).admitted)
      throw new Error('Admitted.');
  }
  const growth = heap() - before;
  await saturated.complete();
  return growth;
}

/** Shows an intake: windows with its busiest keys, metrics by key, and a page. */
function show(intake: Intake): void {
  collect(intake, { register: new Registry(), keys: 50 });
  void dashboard({ intakes: { intake }, authorize: false }).fetch(new Request('http://localhost/events'));
}

/**
 * How much it grows by keys that never come again: half of them are admitted, half are refused.
 *
 * @param isObserved - whether metrics and windows are measured; they are there before the count begins.
 */
async function afterKeys(count: number, isObserved = false): Promise<number> {
  const idle = createIntake();
  const saturated = new Saturated();
  if (isObserved) for (const intake of [idle, saturated.intake]) show(intake);
  await saturated.complete();
  const before = heap();
  for (let i = 0; i < count; i += 2) {
    const admission = idle.admit({ key: `let-in-${String(i)}` });
    if (!admission.admitted || admission.permit instanceof Promise) throw new Error('There is contention.');
    admission.permit.release();
    if (i % PER_COMPLETION === 0) {
      await saturated.complete();
      await saturated.complete();
    }
    saturated.intake.admit({ key: `refused-${String(i)}` });
  }
  const growth = heap() - before;
  await saturated.complete();
  if (idle.snapshot().keys !== 0) throw new Error('Keys were kept.');
  return growth;
}

/** What each waiting delivery costs beside the description of it that the caller holds. */
function perWaiting(): number {
  const deliveries = Array.from({ length: WAITING }, (_, i) => ({ key: keyAt(i), id: `evt_${String(i)}` }));
  const admissions = new Array<Admission | undefined>(WAITING).fill(undefined);
  const intake = createIntake({ capacity: 2 * WAITING, concurrency: 1 });
  intake.admit();
  const before = heap();
  for (const [i, delivery] of deliveries.entries()) {
    const admission = intake.admit(delivery);
    if (!admission.admitted) throw new Error('It was refused.');
    admissions[i] = admission;
  }
  const grown = heap() - before;
  if (intake.snapshot().depth !== admissions.length) throw new Error('Not all of them wait.');
  return grown / WAITING;
}

/** The same for tasks that wait in p-limit. */
function perTask(): number {
  const deliveries = Array.from({ length: WAITING }, (_, i) => ({ key: keyAt(i), id: `evt_${String(i)}` }));
  const tasks = new Array<Promise<unknown> | undefined>(WAITING).fill(undefined);
  const limit = pLimit(1);
  void limit(() => new Promise<never>(() => undefined));
  const before = heap();
  for (const [i, delivery] of deliveries.entries()) tasks[i] = limit(() => delivery.id);
  const grown = heap() - before;
  if (limit.pendingCount < tasks.length) throw new Error('Not all of them wait.');
  return grown / WAITING;
}

const measures = new Map<string, () => number | Promise<number>>([
  ['refusals', () => afterRefusals(5_000_000)],
  ['keys', () => afterKeys(1_000_000)],
  ['observed keys', () => afterKeys(1_000_000, true)],
  ['waiting', perWaiting],
  ['waiting:p-limit', perTask],
]);

answer(({ measure }: { measure: string }) => {
  const take = measures.get(measure);
  if (take === undefined) throw new Error(`There is no measure ${measure}.`);
  return take();
});
