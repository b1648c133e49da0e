import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresStore } from '@webhook-backpressure/postgres';
import { abortOf } from './abort.ts';
import { endChildren, startChild } from './children.ts';
import { FleetDeaths, type DeathReport, type PlannedDeath } from './fleet-deaths.ts';
import { readLedger, type FleetLedger } from './fleet-ledger.ts';
import { FleetMember } from './fleet-members.ts';
import type { SenderOrders, SenderReports, SenderTotals } from './messages.ts';
import { bulkImport } from './payloads.ts';
import type { PostgresServer } from './postgres-server.ts';
import { FLEET, WARM_UP } from './setup.ts';

const LOOK_MS = 100;

/** How far it is. */
export interface FleetMoment {
  readonly acknowledged: number;
  /** Stored and unfinished; undefined while the database is down. */
  readonly waiting: number | undefined;
  readonly handled: number;
}

/** What came out of it. */
export interface FleetResult {
  readonly sender: SenderTotals;
  /** Processes and databases that were killed. */
  readonly deaths: number;
  readonly repeats: FleetLedger['repeats'];
  /** Completed in the store. */
  readonly completed: number;
  /** Acknowledged and not handled. */
  readonly missing: number;
  /** The most that was stored and unfinished. */
  readonly deepest: number;
  /** From the first delivery until the last was completed. */
  readonly seconds: number;
}

/** Sees a run from outside. */
export interface FleetWatcher {
  /** Chooses how many deliveries the import has, given the seconds that the warm-up took. */
  sizeOf(warmUpS: number): number;
  progress(moment: FleetMoment): void;
  readonly death: DeathReport;
}

/**
 * One import into receivers and workers that share a database. A receiver, a worker and the database are stopped in the
 * middle of it, and started again.
 */
export async function runFleet(
  server: PostgresServer,
  watcher: FleetWatcher,
  signal: AbortSignal,
): Promise<FleetResult> {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-backpressure-demo-'));
  const ledgerPath = join(folder, 'handled.txt');
  const { connectionString } = server;
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const options = { connectionString, ledgerPath, secret };
  const store = postgresStore({ connectionString });
  const aborted = abortOf(signal);

  try {
    const receivers: FleetMember[] = [];
    const workers: FleetMember[] = [];
    for (let n = 1; n <= FLEET.receivers; n += 1) receivers.push(await FleetMember.receiver(n, options));
    for (let n = 1; n <= FLEET.workers; n += 1) workers.push(FleetMember.worker(n, options));
    const members = [...receivers, ...workers];
    await Promise.race([store.open(Date.now()), aborted]);
    await Promise.race([Promise.all(members.map((member) => member.start())), aborted]);
    const sender = startChild<SenderOrders, SenderReports>('sender.js');
    const target = { urls: receivers.map(({ url }) => url), secret };
    const failed = Promise.race([sender.ended, aborted]);
    const warmUp = await Promise.race([sender.ask('warmUp', target, 'warm'), failed]);
    const deliveries = watcher.sizeOf(warmUp.seconds);

    const deaths = new FleetDeaths(
      [
        planned(receivers[1] as FleetMember, FLEET.deathsAt.receiver * deliveries),
        planned(workers[1] as FleetMember, FLEET.deathsAt.worker * deliveries),
        {
          name: 'the database',
          atAcknowledged: FLEET.deathsAt.database * deliveries,
          stop: () => server.crash(),
          start: () => server.restart(),
        },
      ],
      watcher.death,
    );
    const unlessFailed = async <T>(work: Promise<T>): Promise<T> =>
      Promise.race([work, failed, deaths.failed, ...members.map(({ ended }) => ended)]);

    const ledger = (): FleetLedger =>
      readLedger(ledgerPath, new Set(members.flatMap(({ killed }) => killed)));
    let acknowledged = 0;
    let deepest = 0;
    /** Undefined while the database is down. */
    const depth = async (): Promise<number | undefined> => {
      try {
        const stats = await store.stats();
        deepest = Math.max(deepest, stats.depth);
        return stats.depth;
      } catch {
        return undefined;
      }
    };

    sender.on('sample', ({ delivered }) => {
      acknowledged = delivered;
      deaths.begin(acknowledged);
    });
    const startedAt = performance.now();
    const totals: { sent?: SenderTotals } = {};
    const order = { ...target, deliveries, backoffMs: FLEET.backoffMs };
    void sender
      .ask('import', order, 'done')
      .then(
        async (sent) => {
          acknowledged = sent.delivered;
          deaths.begin(acknowledged);
          await deaths.settled();
          totals.sent = sent;
        },
        // Seen by `unlessFailed`.
      )
      .catch(() => undefined);
    for (let isOver = false; !isOver;) {
      // Asked before the last acknowledgement, the depth knows nothing of it.
      const hasAll = totals.sent !== undefined;
      const waiting = await unlessFailed(depth());
      watcher.progress({ acknowledged, waiting, handled: ledger().handled.size });
      isOver = hasAll && waiting === 0;
      if (!isOver) await unlessFailed(sleep(LOOK_MS));
    }

    const { handled, repeats } = ledger();
    const { remembered } = await store.stats();
    const sent = totals.sent as SenderTotals;
    return {
      sender: sent,
      deaths: deaths.count,
      repeats,
      completed: remembered - WARM_UP.deliveries,
      missing: bulkImport(deliveries).filter(({ id }) => !handled.has(id)).length - sent.lost,
      deepest,
      seconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    await endChildren();
    await Promise.resolve(store.close(Date.now())).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

function planned(member: FleetMember, atAcknowledged: number): PlannedDeath {
  return {
    name: member.name,
    atAcknowledged,
    stop: () => member.kill(),
    start: () => member.start(),
  };
}
