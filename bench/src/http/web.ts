import type { RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { withBackpressure } from '@webhook-backpressure/web';
import { keepFull, PROBLEM, REFUSING } from './servers.ts';

function listenerOf(handler: (request: Request) => Response | Promise<Response>): RequestListener {
  const listener = getRequestListener(handler);
  return (req, res) => void listener(req, res);
}

export const refuse = {
  'by hand': (): RequestListener =>
    listenerOf(() =>
      Response.json(PROBLEM, {
        status: 429,
        headers: { 'Retry-After': '10', 'Content-Type': 'application/problem+json' },
      }),
    ),
  ours: (): RequestListener => listenerOf(keepFull(withBackpressure(() => new Response('ok'), REFUSING))),
};
