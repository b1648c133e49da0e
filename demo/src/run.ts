import { randomBytes } from 'node:crypto';
import { endChildren, startChild } from './children.ts';
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

/** Is told how far a run is, several times a second. */
export type Watcher = (receiver: ReceiverSample, sender: SenderSample) => void;

/**
 * One import into one receiver, each in a process of its own.
 *
 * @param guarded - whether the receiver has the middleware.
 * @param signal - gives up the run.
 */
export async function run(
  guarded: boolean,
  deliveries: number,
  watch: Watcher,
  signal: AbortSignal,
): Promise<RunResult> {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const receiver = startChild<ReceiverOrders, ReceiverReports>('receiver.js');
  const sender = startChild<SenderOrders, SenderReports>('sender.js');
  const aborted = new Promise<never>((_, reject) => {
    const giveUp = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  const failed = Promise.race([receiver.ended, sender.ended, aborted]);
  failed.catch(() => undefined);

  let senderSample: SenderSample = { delivered: 0, lost: 0 };
  sender.on('sample', (sample) => {
    senderSample = sample;
  });
  receiver.on('sample', (sample) => {
    watch(sample, senderSample);
  });

  try {
    const listening = receiver.next('listening');
    receiver.tell('start', { guarded, secret });
    const { port, rss: rssAtStart } = await Promise.race([listening, failed]);

    const done = sender.next('done');
    sender.tell('start', { url: `http://127.0.0.1:${String(port)}/webhooks`, secret, deliveries });
    const senderTotals = await Promise.race([done, failed]);
    // The last thing seen of a run is its end.
    senderSample = senderTotals;
    await Promise.race([receiver.next('sample'), failed]);

    const finished = receiver.next('finished');
    receiver.tell('finish', {});
    return { guarded, sender: senderTotals, receiver: await Promise.race([finished, failed]), rssAtStart };
  } finally {
    await endChildren();
  }
}
