import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as adapter from '@webhook-backpressure/express';
import * as inboxAdapter from '@webhook-backpressure/express/inbox';
import type { Inbox } from '@webhook-backpressure/express/inbox';
import type { Intake } from '@webhook-backpressure/express';
import express from 'express';
import expressQueue from 'express-queue';
import { rateLimit } from 'express-rate-limit';
import PQueue from 'p-queue';
import { page, sectionOf, tokensOf } from './pages.ts';
import { runBlock } from './run-block.ts';

export const SECRET = 'secret of the test';

/** What a block of docs/migration.md leaves behind. */
interface Receiver {
  readonly app: RequestListener;
  readonly backpressure?: { readonly intake: Intake };
  readonly webhooks?: { readonly inbox: Inbox };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

interface Sent {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** One side of a migration: the block as a running app, whose work lasts until the test ends it. */
export class MigrationBench {
  readonly receiver: Receiver;
  /** Called with each input of `work`; rejects to make the work fail. */
  work: (input: unknown) => Promise<unknown>;
  works = 0;
  /** Requests that the server has received. */
  arrivals = 0;
  running = 0;
  mostRunning = 0;
  #server: Server | undefined;
  #finish: () => void = () => undefined;

  constructor(heading: string, side: 'before' | 'after', modules: Record<string, unknown> = {}) {
    const blocks = tokensOf('code', sectionOf(page('docs/migration.md'), heading));
    const code = blocks.filter(({ lang }) => lang === 'ts')[side === 'before' ? 0 : 1]?.text ?? '';
    const finished = new Promise<void>((resolve) => (this.#finish = resolve));
    this.work = () => finished;
    const variables = ['app', 'backpressure', 'webhooks'].map(
      (name) => `${name}: typeof ${name} === 'undefined' ? undefined : ${name}`,
    );
    this.receiver = runBlock(
      code,
      {
        express: { __esModule: true, default: express },
        'express-queue': { __esModule: true, default: expressQueue },
        'express-rate-limit': { rateLimit },
        'p-queue': { __esModule: true, default: PQueue },
        // Signal handlers would outlive the test.
        '@webhook-backpressure/express': { ...adapter, closeOnSignals: () => undefined },
        '@webhook-backpressure/express/inbox': inboxAdapter,
        ...modules,
      },
      { work: (input: unknown) => this.#run(input), process: { env: { WEBHOOK_SECRET: SECRET } } },
      `{ ${variables.join(', ')} }`,
    ) as Receiver;
  }

  get intake(): Intake {
    if (this.receiver.backpressure === undefined) throw new Error('There is no intake.');
    return this.receiver.backpressure.intake;
  }

  get inbox(): Inbox {
    if (this.receiver.webhooks === undefined) throw new Error('There is no inbox.');
    return this.receiver.webhooks.inbox;
  }

  async #run(input: unknown): Promise<unknown> {
    this.works += 1;
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      return await this.work(input);
    } finally {
      this.running -= 1;
    }
  }

  /** Listens, and waits for the store of the inbox. */
  async listen(): Promise<void> {
    await this.listenWithoutStore();
    await this.receiver.webhooks?.inbox.opened;
  }

  async listenWithoutStore(): Promise<void> {
    this.#server = createServer((req, res) => {
      this.arrivals += 1;
      this.receiver.app(req, res);
    }).listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async send({ body = '{}', headers = {}, signal }: Sent = {}): Promise<Answer> {
    const { port } = this.#server?.address() as AddressInfo;
    // node:http, since fetch takes several times as long for a burst.
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/webhooks',
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
      ...(signal && { signal }),
    }).end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode = 0, headers: fields } = answer;
    return { status: statusCode, retryAfter: fields['retry-after'], body: await text(answer) };
  }

  /** Starts as many requests at one moment, and counts the answers as they come. */
  burst(count: number): { readonly answers: Promise<readonly Answer[]>; readonly done: readonly Answer[] } {
    const done: Answer[] = [];
    const all = Array.from({ length: count }, async () => {
      const answer = await this.send();
      done.push(answer);
      return answer;
    });
    const answers = Promise.all(all);
    // A test may end before its senders have an answer.
    answers.catch(() => undefined);
    return { answers, done };
  }

  /** Ends all work, also that which starts later. */
  finish(): void {
    this.#finish();
  }

  async close(): Promise<void> {
    this.finish();
    await this.receiver.webhooks?.inbox.close({ timeoutMs: 0 });
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}
