import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { openChannel } from './channel.ts';
import { deliver, isSuccess, type Attempt, type Habits } from './delivery.ts';
import type { SenderOrders, SenderReports, SenderTotals, Target } from './messages.ts';
import { bulkImport } from './payloads.ts';
import { percentiles } from './percentiles.ts';
import { post } from './post.ts';
import { IMPORT, SENDER, WARM_UP } from './setup.ts';

const SAMPLE_MS = 100;
/** How often it looks which deliveries are due. */
const TICK_MS = 10;

const channel = openChannel<SenderOrders, SenderReports>();

channel.on('warmUp', (target) => {
  const startedAt = performance.now();
  void warmUp(target).then(() => {
    channel.send('warm', { seconds: (performance.now() - startedAt) / 1000 });
  });
});

channel.on('import', ({ deliveries, backoffMs, ...target }) => {
  void importAll(target, deliveries, { ...SENDER, backoffMs }).then((totals) => {
    channel.send('done', totals);
  });
});

/** One of them after the other. */
function inTurn(urls: readonly string[]): () => string {
  let next = 0;
  return () => urls[next++ % urls.length] as string;
}

async function warmUp({ urls, secret }: Target): Promise<void> {
  const webhook = new Webhook(secret);
  const nextUrl = inTurn(urls);
  const events = bulkImport(WARM_UP.deliveries).values();
  const sendInTurn = async (): Promise<void> => {
    for (const { id, body } of events) {
      const event = { id: `${WARM_UP.prefix}${id}`, body };
      // Until it is acknowledged, since reports subtract all of them from the completed deliveries.
      while (!isSuccess(await post(event, nextUrl(), webhook, SENDER.timeoutMs))) await sleep(TICK_MS);
    }
  };
  await Promise.all(Array.from({ length: WARM_UP.atOnce }, sendInTurn));
}

async function importAll(
  { urls, secret }: Target,
  deliveries: number,
  habits: Habits,
): Promise<SenderTotals> {
  const webhook = new Webhook(secret);
  const nextUrl = inTurn(urls);
  const events = bulkImport(deliveries);
  const answers: Record<string, number> = {};
  const answerMs: number[] = [];
  const rejectionMs: number[] = [];
  const deliveryMs: number[] = [];
  let delivered = 0;
  let lost = 0;
  let attempts = 0;
  let maxAttempts = 0;
  let maxRetryAfter = 0;

  const settle = async (event: (typeof events)[number]): Promise<void> => {
    const firstAt = performance.now();
    let own = 0;
    const send = async (): Promise<Attempt> => {
      const attempt = await post(event, nextUrl(), webhook, SENDER.timeoutMs);
      const { answer, tookMs, retryAfterMs = 0 } = attempt;
      own += 1;
      answers[answer] = (answers[answer] ?? 0) + 1;
      maxRetryAfter = Math.max(maxRetryAfter, retryAfterMs / 1000);
      if (typeof answer === 'number') answerMs.push(tookMs);
      if (typeof answer === 'number' && !isSuccess(attempt)) rejectionMs.push(tookMs);
      return attempt;
    };
    if (await deliver(send, habits, sleep)) {
      delivered += 1;
      deliveryMs.push(performance.now() - firstAt);
    } else {
      lost += 1;
    }
    attempts += own;
    maxAttempts = Math.max(maxAttempts, own);
  };

  const sampling = setInterval(() => {
    channel.send('sample', { delivered, lost });
  }, SAMPLE_MS);

  // An import does not wait for answers: what is due is sent, however many are under way.
  const startedAt = performance.now();
  const underWay: Promise<void>[] = [];
  while (underWay.length < events.length) {
    const due = Math.ceil(((performance.now() - startedAt) / 1000) * IMPORT.perSecond);
    for (const event of events.slice(underWay.length, due)) underWay.push(settle(event));
    await sleep(TICK_MS);
  }
  await Promise.all(underWay);
  clearInterval(sampling);

  return {
    deliveries,
    delivered,
    lost,
    attempts,
    maxAttempts,
    maxRetryAfter,
    answers,
    answerMs: percentiles(answerMs),
    rejectionMs: percentiles(rejectionMs),
    deliveryMs: percentiles(deliveryMs),
    seconds: (performance.now() - startedAt) / 1000,
  };
}
