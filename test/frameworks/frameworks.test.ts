import { once } from 'node:events';
import { createServer, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { withBackpressure } from '@webhook-backpressure/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FrameworkApp } from '../conformance/adapter.ts';
import { adapters } from '../conformance/adapters.ts';
import { requests, type Asked } from './requests.ts';

/** Here all requests are deliveries, also GET. */
const skip = (): boolean => false;

const frameworks = adapters.flatMap(({ app }) => app ?? []);

/** An intake in which every delivery waits until the next turn of the event loop. */
function queueing(): Intake {
  const intake = createIntake({ concurrency: 1 });
  return {
    dryRun: false,
    admit(delivery) {
      const before = intake.admit();
      const place = intake.admit(delivery);
      if (!before.admitted || !place.admitted) throw new Error('refused');
      if (!(place.permit instanceof Promise)) throw new Error('it does not wait');
      void Promise.resolve(before.permit).then((permit) => {
        setImmediate(() => {
          if (permit.admitted) permit.release();
        });
      });
      return place;
    },
    accepts: (delivery) => intake.accepts(delivery),
    snapshot: () => intake.snapshot(),
    subscribe: (listener) => intake.subscribe(listener),
    update: (changes) => {
      intake.update(changes);
    },
    close: (options) => intake.close(options),
  };
}

interface Way {
  readonly way: string;
  readonly intake: () => Intake;
  readonly listenerOf: (framework: FrameworkApp, intake: Intake) => RequestListener;
}

const mounted: Way['listenerOf'] = ({ serve }, intake) => serve({ intake, skip, path: '/' });
const inFront: Way['listenerOf'] = ({ serve }, intake) => withBackpressure(serve(), { intake, skip });

const ways: readonly Way[] = [
  { way: 'mounted', intake: createIntake, listenerOf: mounted },
  { way: 'mounted, with every request queued', intake: queueing, listenerOf: mounted },
  { way: 'in front', intake: createIntake, listenerOf: inFront },
  { way: 'in front, with every request queued', intake: queueing, listenerOf: inFront },
];

/** The exact response, without its date. */
interface Answer {
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
  readonly isWhole: boolean;
}

class Served {
  readonly #server: ReturnType<typeof createServer>;

  constructor(listener: RequestListener) {
    this.#server = createServer(listener).listen(0, '127.0.0.1');
  }

  async ask({ method = 'GET', path, headers, body }: Asked): Promise<Answer> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    return new Promise((resolve) => {
      // Koa 3 also ends the connection without a response on some errors.
      outgoing.once('error', ({ message }) => {
        resolve({ status: message, headers: [], body: '', isWhole: false });
      });
      outgoing.once('response', (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', () => undefined);
        incoming.once('close', () => {
          const pairs = incoming.rawHeaders.map((one, i, all) =>
            i % 2 === 0 ? `${one}: ${all[i + 1] ?? ''}` : '',
          );
          resolve({
            status: `${String(incoming.statusCode)} ${incoming.statusMessage ?? ''}`,
            headers: pairs.filter((pair) => pair !== '' && !pair.startsWith('Date: ')),
            body: Buffer.concat(parts).toString('latin1'),
            isWhole: incoming.complete,
          });
        });
      });
      outgoing.end(body);
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe.each(frameworks)('$name', (framework) => {
  const bare = new Map<Asked, Answer>();

  beforeAll(async () => {
    const served = new Served(framework.serve());
    for (const asked of requests) bare.set(asked, await served.ask(asked));
    await served.stop();
  });

  it('covers many kinds of responses without the middleware', () => {
    const statuses = new Set([...bare.values()].map(({ status }) => status.slice(0, 3)));
    expect([...statuses]).toEqual(
      expect.arrayContaining(['200', '204', '301', '304', '402', '404', '418', '500']),
    );
  });

  describe.each(ways)('with the middleware $way', ({ intake: createdBy, listenerOf }) => {
    const intake = createdBy();
    const served = new Served(listenerOf(framework, intake));
    afterAll(() => served.stop());

    it.each(requests)('gives the same response: $name', async (asked) => {
      expect(await served.ask(asked)).toEqual(bare.get(asked));
    });

    it('has handled every request', () => {
      expect(intake.snapshot().totals.started).toBeGreaterThanOrEqual(
        requests.length - (framework.unseen ?? 0),
      );
    });
  });
});
