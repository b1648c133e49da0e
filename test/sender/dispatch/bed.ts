import { type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import type { OutboxEvent } from '@webhook-backpressure/observe';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { createSender, type Endpoint, type Sender, type SenderOptions } from '@webhook-backpressure/sender';

/** A request that an endpoint has received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly id: string;
  readonly atMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

export type Answering = (request: SeenRequest) => Response | Promise<Response>;

const START_MS: number = Date.UTC(2026, 0, 1);

/** A seeded random source. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A sender on the manual clock, whose requests the test answers. */
export class SenderBed {
  readonly clock: ManualClock;
  readonly store: InboxStore;
  readonly sender: Sender;
  readonly requests: SeenRequest[] = [];
  readonly events: OutboxEvent[] = [];
  inFlight = 0;
  mostInFlight = 0;
  answer: Answering;

  constructor(
    answer: Answering = () => new Response(null, { status: 204 }),
    options: Partial<SenderOptions> & { limits?: Partial<Endpoint> } = {},
    clock: ManualClock = manualClock(),
  ) {
    const { limits = {}, ...rest } = options;
    this.clock = clock;
    this.answer = answer;
    this.store = options.store ?? memoryStore();
    this.sender = createSender({
      store: this.store,
      endpoint: (id) => ({ url: `https://${id}.example/hook`, secret: null, ...limits }),
      clock: this.clock,
      wallClock: () => START_MS + this.clock.now(),
      random: seeded(1),
      fetch: this.#fetch,
      ...rest,
    });
    this.sender.subscribe((event) => this.events.push(event));
  }

  readonly #fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    const headers = init?.headers as Record<string, string>;
    const request: SeenRequest = {
      method: String(init?.method),
      url: String(url),
      id: headers['webhook-id'] ?? '',
      atMs: this.clock.now(),
      headers,
      body: init?.body
        ? (JSON.parse(new TextDecoder().decode(init.body as Uint8Array)) as unknown)
        : undefined,
      signal: init?.signal as AbortSignal,
    };
    this.requests.push(request);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      return await this.answer(request);
    } finally {
      this.inFlight -= 1;
    }
  };

  send(id: string, endpoint = 'a'): Promise<unknown> {
    return this.sender.send({ endpoint, type: 'test', data: { id }, id });
  }

  /** Lets everything happen that happens without time. */
  async settle(turns = 30): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock in steps, so that what timers cause happens at their time. */
  async run(ms: number, stepMs = 50): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.settle(4);
      this.clock.advance(Math.min(stepMs, ms - passed));
    }
    await this.settle();
  }

  /** Resolves after a time on the manual clock. */
  later(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimeout(resolve, ms));
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }
}
