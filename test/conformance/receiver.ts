import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createIntake, type Intake, type IntakeSnapshot } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { expect, vi } from 'vitest';
import type { Around } from './around.ts';
import { answerWithBody } from './held.ts';
import { Sender, type Call, type Sent } from './sender.ts';
import type { Driver, Exchange, Handle, SuiteOptions } from './exchange.ts';

/** The `x-trace` header of the request in whose async context the code runs. */
export const trace = new AsyncLocalStorage<string | undefined>();

export interface Behavior extends Around {
  /** Default: responds with 200 and the request body. */
  readonly handle?: Handle;
  readonly isNextTwice?: boolean;
  readonly isMountedTwice?: boolean;
}

/** Starts a server with the options and the handler of a test. {@link stopAll} stops it. */
export type Start = (options?: SuiteOptions, behavior?: Behavior) => Promise<Receiver>;

const running: Receiver[] = [];

/** Returns a function that starts servers of one framework. */
export function starter(driver: Driver): Start {
  return async (options = {}, behavior = {}) => {
    const receiver = new Receiver(driver, options, behavior);
    running.push(receiver);
    receiver.server.listen(0);
    await once(receiver.server, 'listening');
    return receiver;
  };
}

export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((receiver) => receiver.stop()));
  vi.restoreAllMocks();
}

/** A server with the middleware of one framework on a manual clock, with everything that tests observe. */
export class Receiver {
  readonly clock: ManualClock = manualClock();
  readonly errors: unknown[] = [];
  readonly requests: IncomingMessage[] = [];
  readonly sockets: Socket[] = [];
  /** The deliveries that reached the handler. */
  readonly handled: Exchange[] = [];
  readonly intake: Intake;
  readonly server: Server;
  readonly #waiters = new Set<{ condition: (snapshot: IntakeSnapshot) => boolean; resolve: () => void }>();
  readonly #handledWaiters = new Set<{ count: number; resolve: () => void }>();
  readonly #sender = new Sender();

  constructor(
    driver: Driver,
    options: SuiteOptions,
    { handle = answerWithBody, isNextTwice = false, isMountedTwice = false, ...around }: Behavior,
  ) {
    const own = options.intake ?? createIntake({ ...intakeOptions(options), ...this.fixtures });
    this.intake = own;
    own.subscribe(this.#checkWaiters);
    // Admissions emit no event, and tests often wait for them.
    const intake: Intake = {
      dryRun: own.dryRun,
      admit: (delivery) => {
        this.#checkWaiters();
        return own.admit(delivery);
      },
      accepts: (delivery) => own.accepts(delivery),
      snapshot: () => own.snapshot(),
      update: (changes) => {
        own.update(changes);
      },
      subscribe: (listener) => own.subscribe(listener),
      close: (closing) => own.close(closing),
    };
    const onError = (error: unknown): void => {
      this.errors.push(error);
    };
    vi.spyOn(process, 'emitWarning').mockImplementation(onError);
    const { listener } = driver.serve({
      options: { ...middlewareOptions(options), intake },
      handle: (exchange) => {
        this.handled.push(exchange);
        for (const waiter of this.#handledWaiters) {
          if (this.handled.length >= waiter.count) waiter.resolve();
        }
        return handle(exchange);
      },
      onError,
      isNextTwice,
      isMountedTwice,
      ...around,
    });
    this.server = createServer((req, res) => {
      this.requests.push(req);
      trace.run(req.headers['x-trace'] as string | undefined, () => listener.call(this.server, req, res));
    });
    this.server.on('connection', (socket) => this.sockets.push(socket));
  }

  get fixtures(): { clock: ManualClock; random: () => number } {
    return { clock: this.clock, random: () => 0.5 };
  }

  get snapshot(): IntakeSnapshot {
    return this.intake.snapshot();
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  send(sent?: Sent): Call {
    return this.#sender.send(this.port, sent);
  }

  /** Waits until the intake meets a condition. */
  when(condition: (snapshot: IntakeSnapshot) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.add({ condition, resolve });
      this.#checkWaiters();
    });
  }

  /** Waits until this many deliveries have reached the handler. */
  whenHandled(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.handled.length >= count) resolve();
      else this.#handledWaiters.add({ count, resolve });
    });
  }

  /** Waits until this many requests have reached the server. */
  async whenAsked(count: number): Promise<void> {
    while (this.requests.length < count) await once(this.server, 'request');
  }

  /** Waits until the server knows that a connection is closed. */
  async whenClosed(index: number): Promise<void> {
    const socket = this.sockets[index];
    // Not with `once` of node:events, which rejects when the connection fails.
    if (socket?.closed === false)
      await new Promise<void>((resolve) =>
        socket.once('close', () => {
          resolve();
        }),
      );
  }

  /** Sends a delivery and waits until it is queued. */
  async sendToWait(sent?: Sent): Promise<Call> {
    const depth = this.snapshot.depth + 1;
    const call = this.send(sent);
    await this.when((snapshot) => snapshot.depth >= depth);
    return call;
  }

  /** Sends a delivery and waits until it is being handled. */
  async sendToHandle(sent?: Sent): Promise<Call> {
    const count = this.handled.length + 1;
    const call = this.send(sent);
    await this.whenHandled(count);
    return call;
  }

  /** Stops everything and checks for leaks. */
  async stop(): Promise<void> {
    this.#sender.destroy();
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
    // A handler that never ends holds its permit until maxHandlingMs.
    this.clock.advance(MAX_HANDLING_MS + 100);
    await this.when(({ active, depth }) => active === 0 && depth === 0);
    const warnings = this.errors.filter((error) => error instanceof Error && error.name.includes('Warning'));
    expect(warnings).toEqual([]);
    const { admitted, completed, failed, withdrawn } = this.snapshot.totals;
    const left = Object.values(withdrawn).reduce((sum, count) => sum + count, 0);
    expect(admitted).toBe(completed + failed + left);
    // A raised alarm keeps its timer until it is cleared, or the intake closes.
    await this.intake.close();
    // The timer of the deadlines ends at its next tick when there are none.
    this.clock.advance(1000);
    expect(this.clock.pending).toBe(0);
  }

  readonly #checkWaiters = (): void => {
    // Events are emitted during a change, and `admit` is observed before it.
    queueMicrotask(() => {
      if (this.#waiters.size === 0) return;
      const snapshot = this.intake.snapshot();
      for (const waiter of this.#waiters) {
        if (!waiter.condition(snapshot)) continue;
        this.#waiters.delete(waiter);
        waiter.resolve();
      }
    });
  };
}

/** The default. No test sets a longer one. */
const MAX_HANDLING_MS = 60_000;

const MIDDLEWARE_OPTIONS = new Set([
  'intake',
  'path',
  'skip',
  'allowedOrigins',
  'keyGenerator',
  'delivery',
  'standardHeaders',
  'legacyHeaders',
  'onRefused',
  'senders',
  'bodyTimeoutMs',
]);

function intakeOptions(options: SuiteOptions): SuiteOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !MIDDLEWARE_OPTIONS.has(name)));
}

function middlewareOptions(options: SuiteOptions): SuiteOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => MIDDLEWARE_OPTIONS.has(name)));
}

/** Expects these totals and a free worker. */
export async function expectEnds(
  receiver: Receiver,
  ends: { completed?: number; failed?: number },
): Promise<void> {
  const { completed = 0, failed = 0 } = ends;
  await receiver.when(({ active }) => active === 0);
  expect(receiver.snapshot.totals).toMatchObject({ admitted: completed + failed, completed, failed });
}
