import { text } from 'node:stream/consumers';
import type { RequestListener } from '@webhook-backpressure/node';

/** What a host does around an app. */
export interface Around {
  /** Responds with 504 when this resolves, and leaves the app to itself, as the timeouts of frameworks do. */
  readonly deadline?: Promise<unknown> | undefined;
  /** Reads the body before the app gets the request. */
  readonly readsBody?: boolean | undefined;
}

/** For apps on node:http. */
export function around(listener: RequestListener, { deadline, readsBody = false }: Around): RequestListener {
  if (deadline === undefined && !readsBody) return listener;
  return (req, res) => {
    const pass = (): unknown => listener(req, res);
    void deadline?.then(() => {
      if (!res.headersSent) res.writeHead(504).end();
    });
    return readsBody ? text(req).then(pass) : pass();
  };
}

type Fetch = (request: Request, ...rest: never[]) => Promise<Response>;

/** For apps of web-standard requests. */
export function aroundFetch<F extends Fetch>(fetch: F, { deadline, readsBody = false }: Around): F {
  if (deadline === undefined && !readsBody) return fetch;
  return (async (request: Request, ...rest: never[]) => {
    if (readsBody) await request.text();
    const late = deadline?.then(() => new Response(null, { status: 504 }));
    const response = fetch(request, ...rest);
    return late === undefined ? response : Promise.race([response, late]);
  }) as F;
}
