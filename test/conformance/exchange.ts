import type { BackpressureInfo, Intake, MiddlewareOptions } from '@webhook-backpressure/core';
import type { RequestListener } from '@webhook-backpressure/node';

/** A request as every framework can show it, for the options that look at one. */
export interface Asked {
  readonly method: string;
  header(name: string): string | undefined;
}

/** One delivery in the hands of a handler, in words that every framework can translate. */
export interface Exchange {
  /** What the handler finds in its framework's own place. */
  readonly info: BackpressureInfo | undefined;
  read(): Promise<string>;
  answer(status: number, body: string): void;
  /** Begins a streamed answer. */
  stream(): Outflow;
}

/** The body of a streamed answer. */
export interface Outflow {
  write(text: string): void;
  end(): void;
  /** Breaks it off, as a failing source would. */
  fail(error: Error): void;
}

export type Handle = (exchange: Exchange) => unknown;

/** The options of a middleware, with callbacks that know no framework. */
export type SuiteOptions = MiddlewareOptions<Asked, [exchange: Exchange]>;

export interface Setup {
  readonly options: SuiteOptions;
  readonly handle: Handle;
  /** Told what arrives in the framework's own error path. */
  readonly onError: (error: unknown) => void;
  /** Puts a middleware between ours and the handler that calls next twice. */
  readonly isNextTwice: boolean;
}

/** How the suite runs a framework. */
export interface Driver {
  readonly name: string;
  /** Whether it has a next to be called; bare node:http has none. */
  readonly hasNext: boolean;
  /** Whether it cuts the connection when the source of a streamed body fails. Koa leaves it open. */
  readonly cutsBrokenStreams: boolean;
  /** An app with our middleware and, behind it, the handler. */
  serve(setup: Setup): { listener: RequestListener; intake: Intake };
}

/** The options in terms of a framework's own request `R` and handler arguments `A`. */
export function translated<R, A extends readonly unknown[]>(
  options: SuiteOptions,
  asked: (request: R) => Asked,
  exchangeOf: (...rest: A) => Exchange,
  /** Runs what answers, and gives the framework what it wants to have returned. */
  finish: (exchange: Exchange, result: unknown) => unknown = (_exchange, result) => result,
): MiddlewareOptions<R, A> {
  const { skip, keyGenerator, delivery, handler, ...rest } = options;
  return {
    ...rest,
    skip: skip && ((request) => skip(asked(request))),
    keyGenerator: keyGenerator && ((request) => keyGenerator(asked(request))),
    delivery: delivery && ((request) => delivery(asked(request))),
    handler:
      handler &&
      ((refusal, ...rest) => {
        const exchange = exchangeOf(...rest);
        return finish(exchange, handler(refusal, exchange));
      }),
  };
}
