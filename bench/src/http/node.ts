import type { RequestListener } from 'node:http';
import { withBackpressure } from '@webhook-backpressure/node';
import express from 'express';
import pLimit from 'p-limit';
import { AMPLE, AMPLE_INTAKE } from './ample.ts';
import { keepFull, PROBLEM, REFUSING } from './servers.ts';

const handle: RequestListener = (_req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 2 }).end('ok');
};

export const pass = {
  without: (): RequestListener => handle,
  ours: (): RequestListener => withBackpressure(handle, AMPLE_INTAKE),
  'p-limit': (): RequestListener => {
    const limit = pLimit(AMPLE);
    return (req, res) =>
      void limit(async () => {
        handle(req, res);
        await new Promise((resolve) => res.once('close', resolve));
      });
  },
};

const body = JSON.stringify(PROBLEM);

/** In front of Express, which never sees what is refused. */
export const front = {
  ours: (): RequestListener => {
    const app = express();
    app.post('/webhooks', (_req, res) => {
      res.send('ok');
    });
    return keepFull(withBackpressure(app as unknown as RequestListener, REFUSING));
  },
  'bare node': (): RequestListener => (_req, res) => {
    res
      .writeHead(429, {
        'Retry-After': '10',
        'Content-Type': 'application/problem+json',
        'Content-Length': body.length,
      })
      .end(body);
  },
};
