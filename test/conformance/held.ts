import type { Exchange, Handle } from './exchange.ts';

export interface Held {
  readonly handle: Handle;
  /** Continues the delivery that has been held longest. */
  readonly release: () => void;
}

/**
 * A handler that holds every delivery until the test releases it.
 *
 * @param then - continues a released delivery. Default: responds with its body.
 */
export function held(then: Handle = answerWithBody): Held {
  const holding: (() => void)[] = [];
  return {
    async handle(exchange) {
      await new Promise<void>((resolve) => holding.push(resolve));
      await then(exchange);
    },
    release() {
      const next = holding.shift();
      if (next === undefined) throw new Error('No delivery is held.');
      next();
    },
  };
}

/** Reads the body and sends it back. */
export async function answerWithBody(exchange: Exchange): Promise<void> {
  exchange.answer(200, await exchange.read());
}

/** A handler that never answers. */
export const silent: Handle = () => new Promise(() => undefined);
