import type { SenderCloseReport } from '@webhook-backpressure/observe';
import type { StoreOpening } from '@webhook-backpressure/inbox/store';
import type { SenderParts } from './sender-parts.ts';

/** The time that the store gets to release everything, after the timeout of the requests. */
const STORE_TIMEOUT_MS = 2000;

/** Lets requests end until the timeout, then gives them up, releases their events and closes the store. */
export async function shutDown(
  parts: SenderParts,
  opening: StoreOpening,
  timeoutMs: number,
): Promise<SenderCloseReport> {
  const { scheduler, attempts, dispatcher, directory, outbox, redriving, settling, requester, buckets } =
    parts;
  dispatcher.end();
  directory.close();
  outbox.end();
  const redriven = redriving.end();
  const before = attempts.count;
  // Otherwise a process with nothing else to do would end before claims are released and the store is closed.
  const inTime = (work: Promise<unknown>, ms: number): Promise<unknown> =>
    Promise.race([work, scheduler.hold(ms)]);
  await inTime(
    Promise.all([attempts.idle(), outbox.idle(), redriven]).then(() => settling.idle()),
    timeoutMs,
  );
  const remaining = attempts.count;
  attempts.abandon();
  await inTime(release(parts, opening), STORE_TIMEOUT_MS);
  scheduler.stop();
  buckets.close?.();
  void requester.close().catch(() => undefined);
  return { completed: before - remaining, remaining };
}

async function release(parts: SenderParts, opening: StoreOpening): Promise<void> {
  const { settings, health, claiming, settling, outbox, discovery, maintenance, renewal, wallMs } = parts;
  renewal.end();
  await Promise.all([opening.ended(), claiming.idle(), discovery.end(), maintenance.end(), outbox.idle()]);
  // Claims that were in progress have been released.
  if (!health.isResting) await settling.idle();
  try {
    await settings.store.close(wallMs());
  } catch (error) {
    health.failed('close', error);
  }
}
