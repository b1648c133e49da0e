import {
  createInbox,
  type Inbox,
  type InboxOptions,
  memoryStore,
  Unrecoverable,
} from '@webhook-backpressure/inbox';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import {
  dashboard,
  type Dashboard,
  type DashboardOptions,
  type PageState,
} from '@webhook-backpressure/dashboard';

/** An inbox with other dead letters. */
export function withDeadLetters(deadLetters: object): Inbox {
  const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false });
  return {
    snapshot: () => inbox.snapshot(),
    receive: () => Promise.resolve(null),
    update: () => undefined,
    deadLetters,
  } as unknown as Inbox;
}

/** A dashboard of an intake and an inbox, on a manual clock. */
export interface Watched {
  readonly page: Dashboard;
  readonly clock: ManualClock;
  readonly intake: Intake;
  readonly inbox: Inbox;
  readonly errors: unknown[];
}

export function watched(options: Partial<DashboardOptions> = {}): Watched {
  const clock = manualClock();
  const intake = createIntake({ clock, capacity: 10, concurrency: 1 });
  const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false, clock });
  const errors: unknown[] = [];
  const page = dashboard({
    intakes: { intake },
    inboxes: { inbox },
    authorize: false,
    clock,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { page, clock, intake, inbox, errors };
}

/** An inbox whose deliveries of the given ids are dead letters. */
export function inboxWithDead(...ids: readonly string[]): Promise<Inbox> {
  return inboxThatFails(ids, {});
}

/** The same, with other options of the inbox. */
export async function inboxThatFails(ids: readonly string[], options: Partial<InboxOptions>): Promise<Inbox> {
  const inbox = createInbox({
    ...options,
    store: memoryStore(),
    verify: false,
    process: () => {
      throw new Unrecoverable('<b>boom</b>');
    },
  });
  const dead = new Promise<void>((resolve) => {
    let count = 0;
    inbox.subscribe(({ type }) => {
      if (type === 'dead' && (count += 1) === ids.length) resolve();
    });
  });
  for (const id of ids) {
    await inbox.receive({
      headers: { 'webhook-id': id, 'content-type': 'text/html' },
      hint: '',
      read: (sink) => {
        sink.add(new TextEncoder().encode('<script>alert(1)</script>'));
        return Promise.resolve('whole');
      },
    });
  }
  await dead;
  return inbox;
}

export function get(path = '', headers: Record<string, string> = {}): Request {
  return new Request(`http://ops.example/backpressure/${path}`, { headers });
}

export function post(path: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`http://ops.example/backpressure/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-webhook-backpressure': '1', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export async function stateOf(page: Dashboard): Promise<PageState> {
  const answer = await page.fetch(get('state'));
  return (await answer.json()) as PageState;
}

/** The body of a problem. */
export interface ProblemBody {
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly option?: string;
}

export async function problemOf(answer: Response): Promise<ProblemBody> {
  return (await answer.json()) as ProblemBody;
}

export interface PageEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Reads server-sent events from a stream, one after the other. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(answer: Response) {
    if (answer.body === null) throw new Error('The answer has no body.');
    this.#reader = answer.body.getReader();
  }

  /** The next event, or null when the stream has ended. Rejects when it was dropped. */
  async next(): Promise<PageEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const event = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (event !== undefined && data !== undefined) return { event, data: JSON.parse(data) as unknown };
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}
