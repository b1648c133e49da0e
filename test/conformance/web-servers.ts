import { getRequestListener } from '@hono/node-server';
import type { RequestListener } from '@webhook-backpressure/node';

/** Makes a listener for node:http of a handler of web-standard requests. */
export type ServeWeb = (fetch: (request: Request) => Promise<Response>) => RequestListener;

export const onNodeServer: ServeWeb = (fetch) => getRequestListener(fetch);
