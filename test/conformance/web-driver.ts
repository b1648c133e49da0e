import { backpressureOf, withBackpressure } from '@webhook-backpressure/web';
import { aroundFetch } from './around.ts';
import { translated, type Asked, type Driver, type Exchange } from './exchange.ts';
import { webOutflow, type WebExchange } from './web-exchange.ts';
import type { ServeWeb } from './web-servers.ts';

function exchangeOf(request: Request): WebExchange {
  const exchange: WebExchange = {
    response: undefined,
    info: backpressureOf(request),
    read: () => request.text(),
    answer(status, body) {
      exchange.response = new Response(body, { status });
    },
    stream() {
      const { outflow, readable } = webOutflow();
      exchange.response = new Response(readable);
      return outflow;
    },
  };
  return exchange;
}

async function responseOf(exchange: Exchange, result: unknown): Promise<Response> {
  await result;
  // Some handlers return nothing.
  return (exchange as WebExchange).response as Response;
}

/** `packages/web` behind a server that passes it web-standard requests. */
export function webDriver(name: string, serveWeb: ServeWeb): Driver {
  return {
    name,
    hasNext: false,
    cutsBrokenStreams: true,
    seesConnection: false,
    answersForHandlers: true,
    serve({ options, handle, onError, isMountedTwice, ...host }) {
      const own = translated(
        options,
        (request: Request): Asked => ({
          method: request.method,
          header: (field) => request.headers.get(field) ?? undefined,
        }),
        exchangeOf,
        responseOf,
      );
      const once = withBackpressure((request) => {
        const exchange = exchangeOf(request);
        return responseOf(exchange, handle(exchange));
      }, own);
      const guarded = isMountedTwice ? withBackpressure((request) => once(new Request(request)), own) : once;
      const fetch = async (request: Request): Promise<Response> => {
        try {
          const response: Response | undefined = await (
            guarded as (...args: [Request]) => Promise<Response | undefined>
          )(request);
          // As hosts respond to a handler that returns nothing.
          return response ?? new Response(null, { status: 500 });
        } catch (error) {
          onError(error);
          return new Response(null, { status: 500 });
        }
      };
      return { listener: serveWeb(aroundFetch(fetch, host)), intake: guarded.intake };
    },
  };
}
