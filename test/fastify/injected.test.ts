import { Readable } from 'node:stream';
import { webhookBackpressure } from '@webhook-backpressure/fastify';
import fastify, { type InjectOptions } from 'fastify';
import { describe, expect, it } from 'vitest';

function form(): FormData {
  const data = new FormData();
  data.append('name', 'value');
  return data;
}

/** The defaults, which the types require. */
const SIMULATED = { end: true, split: false, error: false, close: false };
const chunked = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };

const requests: [string, () => InjectOptions][] = [
  ['JSON', () => ({ payload: { a: 1 } })],
  ['a form', () => ({ payload: form() })],
  ['a chunked stream', () => ({ payload: Readable.from(['{"a":', '1}']), headers: chunked })],
  ['a body in two parts', () => ({ payload: { a: 1 }, simulate: { ...SIMULATED, split: true } })],
  ['a body that fails', () => ({ payload: { a: 1 }, simulate: { ...SIMULATED, error: true } })],
  ['an error without a body', () => ({ simulate: { ...SIMULATED, error: true } })],
  ['bytes', () => ({ payload: Buffer.from('abc'), headers: { 'content-type': 'text/plain' } })],
];

/** The answer of an app to `inject()`, or the error with which it rejects. */
async function answerTo(options: InjectOptions, isGuarded: boolean): Promise<unknown> {
  const app = fastify();
  if (isGuarded) await app.register(webhookBackpressure);
  app.addContentTypeParser('multipart/form-data', (_request, body, done) => {
    body
      .on('error', done)
      .on('data', () => undefined)
      .on('end', () => {
        done(null, 'parsed');
      });
  });
  app.post('/', (request) => ({ body: request.body ?? null }));
  try {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/', ...options });
    return { statusCode, body };
  } catch (error) {
    return error;
  } finally {
    await app.close();
  }
}

describe('a request of inject()', () => {
  it.each(requests)('is answered as without the plugin: %s', async (_name, options) => {
    expect(await answerTo(options(), true)).toEqual(await answerTo(options(), false));
  });
});
