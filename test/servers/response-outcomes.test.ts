import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Outcome } from '@webhook-backpressure/core';
import { withBackpressure } from '@webhook-backpressure/node';
import { describe, expect, it } from 'vitest';
import { post, Wire } from './wire.ts';

type Answer = (res: ServerResponse) => unknown;

/** The outcome with which the permit is released for a response in this state. */
async function outcomeOf(answer: Answer, ...fields: string[]): Promise<Outcome> {
  const listener = withBackpressure((_req, res) => {
    res.on('error', () => undefined);
    answer(res);
  });
  const outcome = new Promise<Outcome>((resolve) => {
    listener.intake.subscribe((event) => {
      if (event.type === 'completed') resolve(event.outcome);
    });
  });
  const server = createServer(listener);
  server.listen(0);
  await once(server, 'listening');
  new Wire((server.address() as AddressInfo).port).write(post('{}', ...fields));
  const told = await outcome;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  return told;
}

describe('the outcome of a response', () => {
  it.each([
    ['kept', []],
    ['closed', ['Connection: close']],
  ])('is a success when the response was sent completely and the connection is %s', async (_how, fields) => {
    expect(await outcomeOf((res) => res.end('done'), ...fields)).toBe('success');
  });

  it('is a success when the connection breaks after the response has finished', async () => {
    const answer: Answer = (res) => res.on('finish', () => res.req.socket.destroy()).end('done');
    expect(await outcomeOf(answer)).toBe('success');
  });

  it('is a success when the request was sent on with undici, which removes its socket', async () => {
    const answer: Answer = (res) => {
      Object.assign(res.req, { socket: null });
      res.end('done');
    };
    expect(await outcomeOf(answer)).toBe('success');
  });

  it.each<[string, Answer]>([
    ['is destroyed', (res) => res.destroy()],
    ['is destroyed in the middle', (res) => res.write('do', () => res.destroy())],
    ['ends and is then destroyed with an error', (res) => res.end('done').destroy(new Error('broken'))],
  ])('is a failure when it %s', async (_how, answer) => {
    expect(await outcomeOf(answer)).toBe('failure');
  });
});
