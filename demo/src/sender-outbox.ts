import { setTimeout as sleep } from 'node:timers/promises';
import { createSender, type Endpoint } from '@webhook-backpressure/sender';
import type { OutboxEvent } from '@webhook-backpressure/observe';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { openChannel } from './channel.ts';
import { bulkImport } from './payloads.ts';
import { percentiles } from './percentiles.ts';
import type {
  EndpointFigures,
  OutboxOrders,
  OutboxReports,
  OutboxResult,
  OutboxTarget,
  TargetKind,
} from './sender-messages.ts';
import { WARM_UP } from './setup.ts';

const SAMPLE_MS = 200;
/** Calls of `send` that wait for their commit. */
const CALLS = 500;

/** The settings that a user would choose. For the limited endpoint it is five times what the receiver can do. */
const LIMITS: Readonly<Record<TargetKind, Pick<Endpoint, 'rate' | 'burst' | 'maxInFlight'>>> = {
  fast: { rate: { perSecond: 5000 }, burst: 5000, maxInFlight: 100 },
  limited: { rate: { perSecond: 1000 }, burst: 1000, maxInFlight: 500 },
  hanging: { rate: { perSecond: 10 }, burst: 50, maxInFlight: 10 },
};

const channel = openChannel<OutboxOrders, OutboxReports>();

/** The counts of one endpoint, from events. */
class Tally {
  readonly target: OutboxTarget;
  readonly #startedAt: number;
  readonly #latencies: number[] = [];
  #attempts = 0;
  #limited = 0;
  #failed = 0;
  #seconds: number | null = null;

  constructor(target: OutboxTarget, startedAt: number) {
    this.target = target;
    this.#startedAt = startedAt;
  }

  get isDelivered(): boolean {
    return this.#latencies.length >= this.target.events;
  }

  count(event: OutboxEvent): void {
    if (event.type === 'started') this.#attempts += 1;
    else if (event.type === 'limited') this.#limited += 1;
    else if (event.type === 'failed') this.#failed += 1;
    else if (event.type === 'delivered') {
      this.#latencies.push(event.latencyMs);
      if (this.isDelivered) this.#seconds = (performance.now() - this.#startedAt) / 1000;
    }
  }

  figures(state: string): EndpointFigures {
    return {
      kind: this.target.kind,
      state,
      events: this.target.events,
      delivered: this.#latencies.length,
      attempts: this.#attempts,
      limited: this.#limited,
      failed: this.#failed,
      latencyMs: percentiles(this.#latencies),
      seconds: this.#seconds,
    };
  }
}

channel.on('warmUp', ({ path, secret, target }) => {
  void deliver(path, secret, [target], WARM_UP.prefix).then(({ endpoints }) => {
    channel.send('warm', { seconds: endpoints[0]?.seconds ?? 0 });
  });
});

channel.on('import', ({ path, secret, targets }) => {
  void deliver(path, secret, targets, '').then((result) => {
    channel.send('done', result);
  });
});

/** Sends all events, and closes the sender when all but those to the hanging endpoint are delivered. */
async function deliver(
  path: string,
  secret: string,
  targets: readonly OutboxTarget[],
  prefix: string,
): Promise<OutboxResult> {
  const ports = new Map(targets.map(({ kind, port }) => [kind as string, port]));
  const events = mixed(targets, prefix);
  const sender = createSender({
    store: sqliteStore({ path }),
    endpoint: (id) => ({
      url: `http://127.0.0.1:${String(ports.get(id))}/webhooks`,
      secret,
      ...LIMITS[id as TargetKind],
    }),
    allowPrivateAddresses: true,
    timeoutMs: 5000,
  });
  const startedAt = performance.now();
  const tallies = new Map(targets.map((target) => [target.kind as string, new Tally(target, startedAt)]));
  sender.subscribe((event) => {
    if ('endpoint' in event && event.endpoint) tallies.get(event.endpoint)?.count(event);
  });
  let sent = 0;
  const figures = (): EndpointFigures[] =>
    [...tallies].map(([id, tally]) => tally.figures(sender.endpoints.get(id)?.state ?? 'idle'));

  const sendAll = async (): Promise<void> => {
    for (let event = events.pop(); event; event = events.pop()) {
      await sender.send(event);
      sent += 1;
    }
  };
  const sending = Promise.all(Array.from({ length: CALLS }, sendAll)).then(
    () => (performance.now() - startedAt) / 1000,
  );
  const working = [...tallies.values()].filter(({ target }) => target.kind !== 'hanging');
  while (!working.every((tally) => tally.isDelivered)) {
    // A call that fails ends the process, and the demo.
    await Promise.race([sleep(SAMPLE_MS), sending.then(() => sleep(SAMPLE_MS))]);
    if (prefix === '') channel.send('sample', { sent, endpoints: figures() });
  }
  const sentSeconds = await sending;
  const result = { endpoints: figures(), stored: sender.snapshot().depth, sentSeconds };
  await sender.close({ timeoutMs: 0 });
  return result;
}

type Event = Parameters<ReturnType<typeof createSender>['send']>[0];

/** The events of all endpoints, mixed as an import of all customers mixes them. */
function mixed(targets: readonly OutboxTarget[], prefix: string): Event[] {
  const total = targets.reduce((sum, { events }) => sum + events, 0);
  const payloads = bulkImport(total);
  const left = targets.map(({ events }) => events);
  return payloads.map(({ id, body }, index) => {
    // The endpoint that is behind its share the most.
    const behind = targets.map(({ events }, at) => (left[at] ?? 0) / events - (total - index) / total);
    const at = behind.indexOf(Math.max(...behind));
    left[at] = (left[at] ?? 0) - 1;
    const { type, data } = JSON.parse(body) as { type: string; data: Event['data'] };
    return { endpoint: targets[at]?.kind ?? '', type, data, id: `${prefix}${id}` };
  });
}
