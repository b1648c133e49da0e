import { randomBytes } from 'node:crypto';
import { abortOf } from './abort.ts';
import { endChildren, startChild } from './children.ts';
import { SENDER } from './setup.ts';
import { PAGE_PATH } from './page.ts';
import type {
  ReceiverOrders,
  ReceiverReports,
  ReceiverSample,
  ReceiverTotals,
  SenderOrders,
  SenderReports,
  SenderSample,
  SenderTotals,
} from './messages.ts';

/** What came out of one run. */
export interface RunResult {
  readonly guarded: boolean;
  readonly sender: SenderTotals;
  readonly receiver: ReceiverTotals;
  /** Bytes, of the receiver, before the first delivery. */
  readonly rssAtStart: number;
}

/** Sees a run from outside. */
export interface Watcher {
  /** Gets the address of the live page, before the first delivery. */
  page(url: string): void;
  /** Gets the progress, several times a second. */
  progress(receiver: ReceiverSample, sender: SenderSample): void;
}

/**
 * Sends one import to one receiver, each in its own process.
 *
 * @param guarded - whether the receiver has the middleware.
 * @param sizeOf - how many deliveries the import has, given the seconds that the warm-up took.
 * @param signal - ends the run.
 */
export async function run(
  guarded: boolean,
  sizeOf: (warmUpS: number) => number,
  watch: Watcher,
  signal: AbortSignal,
): Promise<RunResult> {
  const receiver = startChild<ReceiverOrders, ReceiverReports>('receiver.js');
  const sender = startChild<SenderOrders, SenderReports>('sender.js');
  const failed = Promise.race([receiver.ended, sender.ended, abortOf(signal)]);
  const unlessFailed = <T>(report: Promise<T>): Promise<T> => Promise.race([report, failed]);

  try {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const { port } = await unlessFailed(receiver.ask('start', { guarded, secret }, 'listening'));
    const origin = `http://127.0.0.1:${String(port)}`;
    if (guarded) watch.page(`${origin}${PAGE_PATH}/`);
    const target = { urls: [`${origin}/webhooks`], secret };
    const warmUp = await unlessFailed(sender.ask('warmUp', target, 'warm'));
    const deliveries = sizeOf(warmUp.seconds);
    const { rss: rssAtStart } = await unlessFailed(receiver.ask('count', {}, 'counting'));

    let senderSample: SenderSample = { delivered: 0, lost: 0 };
    sender.on('sample', (sample) => {
      senderSample = sample;
    });
    receiver.on('sample', (sample) => {
      watch.progress(sample, senderSample);
    });
    const senderTotals = await unlessFailed(
      sender.ask('import', { ...target, deliveries, backoffMs: SENDER.backoffMs }, 'done'),
    );
    const receiverTotals = await unlessFailed(receiver.ask('finish', {}, 'finished'));
    watch.progress(receiverTotals.sample, senderTotals);
    return { guarded, sender: senderTotals, receiver: receiverTotals, rssAtStart };
  } finally {
    await endChildren();
  }
}
