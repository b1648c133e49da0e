import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { abortOf } from './abort.ts';
import { endChildren, startChild, type Child } from './children.ts';
import type {
  InboxReceiverOrders,
  InboxReceiverReports,
  SenderOrders,
  SenderReports,
  SenderTotals,
} from './messages.ts';
import { bulkImport } from './payloads.ts';
import { INBOX_BACKOFF_MS, WARM_UP } from './setup.ts';

/** The process is killed when so much has been acknowledged, and again when so much has been processed. */
const KILLED_AT = { acknowledged: 0.4, processed: 0.5 };
const LOOK_MS = 100;

/** One death of the receiver. */
export interface Death {
  /** Acknowledged by then, and processed by then. */
  readonly acknowledged: number;
  readonly processed: number;
  /** Milliseconds until it took deliveries again. */
  readonly downMs: number;
}

/** What came out of it. */
export interface InboxResult {
  readonly sender: SenderTotals;
  readonly deaths: readonly Death[];
  /** Distinct deliveries in the database. */
  readonly processed: number;
  /** Handlers that had to do it again, because the process died before that was stored. */
  readonly repeated: number;
  /** Of the import, those that are not in the database. */
  readonly missing: number;
  /** From the first delivery until the last was processed. */
  readonly seconds: number;
}

/** How far it is. */
export interface InboxMoment {
  readonly acknowledged: number;
  readonly waiting: number;
  readonly processed: number;
}

type InboxReceiver = Child<InboxReceiverOrders, InboxReceiverReports>;

/** One import into one receiver with an inbox, which is killed twice in the middle of it. */
export async function runInbox(
  deliveries: number,
  watch: (moment: InboxMoment, death?: Death) => void,
  signal: AbortSignal,
): Promise<InboxResult> {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-backpressure-demo-'));
  const paths = { inboxPath: join(folder, 'webhooks.db'), databasePath: join(folder, 'database.txt') };
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  let depth = 0;
  let acknowledged = 0;

  const start = async (port: number): Promise<{ receiver: InboxReceiver; port: number }> => {
    const receiver = startChild<InboxReceiverOrders, InboxReceiverReports>('inbox-receiver.js');
    receiver.on('sample', (sample) => {
      ({ depth } = sample);
    });
    const listening = receiver.ask('start', { port, secret, ...paths }, 'listening');
    return { receiver, port: (await listening).port };
  };
  /** The ids in it, but those of the warm-up. */
  const database = (): string[] =>
    existsSync(paths.databasePath)
      ? readFileSync(paths.databasePath, 'utf8')
          .split('\n')
          .filter((id) => id !== '' && !id.startsWith(WARM_UP.prefix))
      : [];
  const processed = (): number => new Set(database()).size;
  const look = (): InboxMoment => ({ acknowledged, waiting: depth, processed: processed() });

  const aborted = abortOf(signal);
  const until = async (isReached: () => boolean, failed: Promise<never>): Promise<void> => {
    while (!isReached()) {
      watch(look());
      await Promise.race([new Promise((resolve) => setTimeout(resolve, LOOK_MS)), failed]);
    }
  };

  try {
    let { receiver, port } = await Promise.race([start(0), aborted]);
    const sender = startChild<SenderOrders, SenderReports>('sender.js');
    const failed = (): Promise<never> => {
      const failing = Promise.race([receiver.ended, sender.ended, aborted]);
      // What has been reached already is not waited for, and in the end all children are ended.
      failing.catch(() => undefined);
      return failing;
    };
    sender.on('sample', (sample) => {
      acknowledged = sample.delivered;
    });
    let totals: SenderTotals | undefined;
    const target = { urls: [`http://127.0.0.1:${String(port)}/webhooks`], secret };
    await Promise.race([sender.ask('warmUp', target, 'warm'), failed()]);
    const startedAt = performance.now();
    const order = { ...target, deliveries, backoffMs: INBOX_BACKOFF_MS };
    const sent = sender.ask('import', order, 'done').then((done) => {
      totals = done;
      acknowledged = done.delivered;
      return done;
    });

    const deaths: Death[] = [];
    const kill = async (): Promise<void> => {
      const { acknowledged: known, processed: done } = look();
      const killedAt = performance.now();
      await receiver.kill();
      ({ receiver, port } = await Promise.race([start(port), aborted]));
      const death = { acknowledged: known, processed: done, downMs: performance.now() - killedAt };
      deaths.push(death);
      watch(look(), death);
    };
    await until(() => acknowledged >= KILLED_AT.acknowledged * deliveries, failed());
    await kill();
    await until(() => processed() >= KILLED_AT.processed * deliveries, failed());
    await kill();
    depth = Infinity;
    await until(() => totals !== undefined, failed());
    // A sample from before the last delivery knows nothing of it.
    await Promise.race([receiver.ask('look', {}, 'looked'), failed()]);
    depth = Infinity;
    await until(() => depth === 0, failed());
    watch(look());

    const ids = database();
    const distinct = new Set(ids);
    return {
      sender: await sent,
      deaths,
      processed: distinct.size,
      repeated: ids.length - distinct.size,
      missing: bulkImport(deliveries).filter(({ id }) => !distinct.has(id)).length,
      seconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    await endChildren();
    rmSync(folder, { recursive: true, force: true });
  }
}
