import {
  type AdmissionControl,
  createAdmissionControl,
  type Handling,
} from '@webhook-backpressure/core/middleware';
import type { Clock } from '@webhook-backpressure/base';
import type { Refusal } from '@webhook-backpressure/core';
import {
  Downstream,
  type Observations,
  type Scenario,
  type Traffic,
  stream,
} from '@webhook-backpressure/planner/parts';

/** How the receiver is set up, beside the intake. */
export interface ReceiverSetup {
  readonly standardHeaders: boolean;
  /** Whether each sender has its own key. Otherwise they share one. */
  readonly hasKeys: boolean;
}

/** The header with the index of a delivery into the traffic, and that with the key. */
export const INDEX_HEADER = 'x-index';
export const KEY_HEADER = 'x-tenant';

interface WebRequest {
  readonly headers: Readonly<Record<string, string>>;
}

interface Running {
  readonly handling: Handling;
  readonly startedMs: number;
  readonly answer: () => void;
}

/**
 * The receiver of the two halves: the part of the middleware that all adapters share, and workers behind it. It answers the
 * sender's `fetch`, without a network between them.
 */
export class TwoHalvesReceiver {
  readonly #control: AdmissionControl<WebRequest>;
  readonly #downstream: Downstream;
  readonly #traffic: Traffic;
  readonly #seen: Observations;
  readonly #clock: Clock;
  readonly #running = new Map<number, Running>();
  #depth = 0;

  constructor(scenario: Scenario, setup: ReceiverSetup, traffic: Traffic, clock: Clock, seen: Observations) {
    this.#traffic = traffic;
    this.#seen = seen;
    this.#clock = clock;
    this.#downstream = new Downstream(scenario.service);
    this.#control = createAdmissionControl(
      {
        ...scenario.intake,
        clock,
        random: stream(scenario.seed, 'intake'),
        standardHeaders: setup.standardHeaders ? 'draft-8' : false,
        keyGenerator: setup.hasKeys
          ? ({ headers }: WebRequest): string | undefined => headers[KEY_HEADER]
          : undefined,
      },
      {
        method: () => 'POST',
        identity: (request) => request,
        targets: () => [],
        headers: ({ headers }) => headers,
        warn: (code, message) => {
          throw new Error(`${code}: ${message}`);
        },
      },
    );
    this.#control.intake.subscribe(({ type }) => {
      if (type === 'shedding' || type === 'accepting') seen.gateToggles += 1;
    });
  }

  /** When the next handler ends; Infinity without one. */
  get nextMs(): number {
    return this.#downstream.nextMs();
  }

  /** The handler that is due ends. */
  end(nowMs: number): void {
    const i = this.#downstream.end(nowMs);
    const { handling, startedMs, answer } = this.#running.get(i) as Running;
    this.#running.delete(i);
    this.#seen.wasBusy(startedMs, nowMs);
    // An attempt that its sender has given up is repeated, and handled again.
    if (Number.isNaN(this.#seen.completedMs[i])) this.#seen.completed(i, handling.waitedMs, nowMs);
    handling.endHandler();
    handling.endResponse('success');
    answer();
  }

  readonly fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init?.headers));
    const i = Number(headers[INDEX_HEADER]);
    const signal = init?.signal ?? undefined;
    this.#seen.attempted(i, this.#clock.now());
    const control = this.#control;
    const handling = control.admit(control.read({ headers }));
    if (!handling.admitted) return this.#refuse(i, handling);
    const cutOff = (): void => {
      handling.cutOff();
    };
    signal?.addEventListener('abort', cutOff, { once: true });
    try {
      if (!handling.tryStart()) {
        this.#seen.depth((this.#depth += 1), this.#clock.now());
        const started = await handling.start(() => signal?.aborted === true);
        this.#seen.depth((this.#depth -= 1), this.#clock.now());
        if (started === false) throw new Error('The sender has gone.');
        if (started !== true) return this.#refuse(i, started);
      }
      const fields = control.fields();
      await this.#handle(i, handling);
      return new Response(null, { status: 204, headers: fields ?? {} });
    } finally {
      signal?.removeEventListener('abort', cutOff);
    }
  };

  #handle(i: number, handling: Handling): Promise<void> {
    const startedMs = this.#clock.now();
    return new Promise((answer) => {
      this.#running.set(i, { handling, startedMs, answer });
      this.#downstream.start(i, this.#traffic.serviceMs[i] as number, startedMs);
    });
  }

  #refuse(i: number, refusal: Refusal): Response {
    this.#seen.refused(i, refusal.retryAfterSeconds, this.#clock.now());
    const headers = { ...this.#control.fields(refusal), ...refusal.headers };
    return new Response(refusal.body, { status: refusal.status, headers });
  }
}
