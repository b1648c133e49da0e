import type { Intake } from '@webhook-backpressure/core';
import type { Redriving } from './admin/redriving.ts';
import type { InboxReport } from './events/inbox-report.ts';
import type { InboxCloseReport } from './inbox.ts';
import type { LevelWatch } from './maintenance/level-watch.ts';
import type { Maintenance } from './maintenance/maintenance.ts';
import type { InboxReceiver } from './receive/inbox-receiver.ts';
import type { ReceiverExchange } from './receive/receiver-exchange.ts';
import type { StoreHealth } from './store-calls/store-health.ts';
import type { StoreOpening } from './store-calls/store-opening.ts';
import type { InboxStore } from './store/inbox-store.ts';
import type { Scheduler } from './time/scheduler.ts';
import type { InboxWorkers } from './work/inbox-workers.ts';

/** What the store gets to release everything, after the timeout of the handlers. */
const STORE_TIMEOUT_MS = 2000;

export interface ShutdownParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly opening: StoreOpening;
  readonly scheduler: Scheduler;
  readonly report: InboxReport;
  readonly intake: Intake;
  readonly receiver: InboxReceiver | undefined;
  readonly workers: InboxWorkers;
  readonly maintenance: Maintenance;
  readonly watch: LevelWatch;
  readonly exchange: ReceiverExchange | undefined;
  readonly redriving: Redriving;
  readonly wallMs: () => number;
}

/** Lets handlers finish until the timeout, then gives their deliveries back and closes the store. */
export async function shutDown(parts: ShutdownParts, timeoutMs: number): Promise<InboxCloseReport> {
  const { scheduler, intake, workers, redriving, report } = parts;
  const { totals } = report;
  const endedBefore = totals.completed + totals.failed;
  workers.stopStarting();
  const redriven = redriving.end();
  // Otherwise a process with nothing else to do would end before claims are given back and the store is closed.
  const inTime = (work: Promise<unknown>, ms: number): Promise<unknown> =>
    Promise.race([work, scheduler.hold(ms)]);
  await inTime(workers.idle(), timeoutMs);
  const remaining = workers.runs.size;
  await inTime(
    redriven.then(() => release(parts)),
    STORE_TIMEOUT_MS,
  );
  scheduler.stop();
  // Not awaited: a handler that never ends holds its permit.
  void intake.close({ timeoutMs: 0 });
  return { completed: totals.completed + totals.failed - endedBefore, refused: 0, remaining };
}

async function release(parts: ShutdownParts): Promise<void> {
  const { store, health, opening, receiver, workers, maintenance, watch, exchange, wallMs } = parts;
  await workers.abandon();
  await Promise.all([
    opening.ended(),
    receiver?.idle(),
    workers.claimer.idle(),
    maintenance.end(),
    watch.end(),
    exchange?.end(),
  ]);
  // A claim that was in progress has been given back to the store, which may take a moment.
  if (!health.isResting) await workers.idle();
  try {
    await store.close(wallMs());
  } catch (error) {
    health.failed('close', error);
  }
}
