import type { BackpressureInfo, Intake, MiddlewareOptions } from '@webhook-backpressure/core';
import type { RequestListener } from '@webhook-backpressure/node';
import type { Around } from './around.ts';

/** A request in terms that every framework can provide, for callbacks of options. */
export interface Asked {
  readonly method: string;
  header(name: string): string | undefined;
}

/** A request and its response for a handler, in terms that every framework can provide. */
export interface Exchange {
  /** The `backpressure` property where the framework has it. */
  readonly info: BackpressureInfo | undefined;
  read(): Promise<string>;
  answer(status: number, body: string): void;
  /** Starts a streamed response. */
  stream(): Outflow;
}

/** The body of a streamed response. */
export interface Outflow {
  write(text: string): void;
  end(): void;
  /** Aborts it, as a failing source would. */
  fail(error: Error): void;
}

export type Handle = (exchange: Exchange) => unknown;

/** The options of a middleware, with callbacks that are independent of the framework. */
export type SuiteOptions = MiddlewareOptions<Asked, [exchange: Exchange]>;

export interface Setup extends Around {
  readonly options: SuiteOptions;
  readonly handle: Handle;
  /** Receives the errors that reach the framework's error handler. */
  readonly onError: (error: unknown) => void;
  /** Adds a middleware between ours and the handler that calls `next` twice. */
  readonly isNextTwice: boolean;
  /** Mounts our middleware twice, with another request object in between where the framework has one. */
  readonly isMountedTwice: boolean;
}

/** Runs the suite on one framework. */
export interface Driver {
  readonly name: string;
  /** Whether it has `next`; node:http has not. */
  readonly hasNext: boolean;
  /** Whether it closes the connection when the source of a streamed body fails. Koa leaves it open. */
  readonly cutsBrokenStreams: boolean;
  /** Whether it sees the connection, and with it how much of a body has arrived and whether a response has been sent. */
  readonly seesConnection: boolean;
  /** Whether it responds when a handler ends without a response. The others leave the connection open. */
  readonly answersForHandlers: boolean;
  /** An app with our middleware followed by the handler. */
  serve(setup: Setup): { listener: RequestListener; intake: Intake };
}

/** The options in terms of a framework's request `R` and handler arguments `A`. */
export function translated<R, A extends readonly unknown[]>(
  options: SuiteOptions,
  asked: (request: R) => Asked,
  exchangeOf: (...rest: A) => Exchange,
  /** Converts the result of a handler to what the framework expects it to return. */
  finish: (exchange: Exchange, result: unknown) => unknown = (_exchange, result) => result,
): MiddlewareOptions<R, A> {
  const { skip, keyGenerator, delivery, onRefused, ...rest } = options;
  return {
    ...rest,
    skip: skip && ((request) => skip(asked(request))),
    keyGenerator: keyGenerator && ((request) => keyGenerator(asked(request))),
    delivery: delivery && ((request) => delivery(asked(request))),
    onRefused:
      onRefused &&
      ((refusal, ...rest) => {
        const exchange = exchangeOf(...rest);
        return finish(exchange, onRefused(refusal, exchange));
      }),
  };
}
