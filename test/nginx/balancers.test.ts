import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { page, tokensOf } from '../docs/pages.ts';
import { findNginx, Nginx, type NginxProgram } from './nginx.ts';
import { Receiver } from './receivers.ts';

const blocks = tokensOf('code', page('docs/many-machines.md').tokens).filter(({ lang }) => lang === 'nginx');
const textWith = (line: string): string => blocks.find(({ text }) => text.includes(line))?.text ?? '';
const MIN_CONNECTIONS = textWith('least_conn;');
const BY_ID = textWith(' consistent;');

const found = await findNginx().catch((error: unknown) => String(error));
if (typeof found === 'string') console.warn(`SKIPPED: the tests of nginx. ${found}`);

it('has two configurations in the docs', () => {
  expect(blocks.map(({ text }) => text)).toEqual([MIN_CONNECTIONS, BY_ID]);
});

describe.skipIf(typeof found === 'string')('nginx, as the docs configure it', () => {
  let nginx: Nginx;
  let receivers: Receiver[];
  beforeEach(() => {
    nginx = new Nginx();
    receivers = ['a', 'b', 'c'].map((name) => new Receiver(name));
  });
  afterEach(async () => {
    await nginx.stop();
    await Promise.all(receivers.map((one) => one.die()));
  });

  async function start(lines: string): Promise<string> {
    const ports = await Promise.all(receivers.map((one) => one.listen()));
    const local = ports.reduce(
      (text, port, at) => text.replace(`10.0.0.${String(at + 1)}:3000`, `127.0.0.1:${String(port)}`),
      lines,
    );
    await nginx.start(found as NginxProgram, local);
    return local;
  }
  const requests = (): number[] => receivers.map((one) => one.requests);
  const sum = (): number => requests().reduce((all, one) => all + one, 0);
  /** The receivers of deliveries with these headers. */
  const send = async (all: readonly Readonly<Record<string, string>>[]): Promise<string[]> => {
    const names: string[] = [];
    for (const headers of all) names.push((await nginx.post(headers)).body);
    return names;
  };
  const ids = Array.from({ length: 60 }, (_, at) => ({ 'webhook-id': `evt_${String(at)}` }));

  describe.each([
    ['by least connections', MIN_CONNECTIONS],
    ['by id', BY_ID],
  ])('%s', (_, lines) => {
    it('passes a refusal on to the sender, and asks no other receiver', async () => {
      await start(lines);
      for (const status of [503, 429]) {
        for (const one of receivers)
          one.answer = (_req, res) => res.writeHead(status, { 'retry-after': '7' }).end();
        const before = sum();
        const answer = await nginx.post({ 'webhook-id': 'evt_1' });
        expect([answer.status, answer.headers['retry-after'], sum() - before]).toEqual([status, '7', 1]);
      }
    });

    it('passes a delivery to another receiver if one accepts no connection', async () => {
      await start(lines);
      await receivers[0]?.die();
      const names = await send(ids);
      expect(new Set(names)).toEqual(new Set(['b', 'c']));
    });

    it('never repeats a delivery that a receiver has seen', async () => {
      await start(lines);
      for (const one of receivers) one.answer = (req) => req.socket.destroy();
      expect((await nginx.post({ 'webhook-id': 'evt_1' })).status).toBe(502);
      expect(sum()).toBe(1);
    });

    it('keeps connections to the receivers', async () => {
      await start(lines);
      await send(ids);
      expect(sum()).toBe(60);
      for (const { connections } of receivers) expect(connections).toBe(1);
    });
  });

  it('gives a delivery to the receiver with the fewest in progress', async () => {
    await start(MIN_CONNECTIONS);
    const held: {
      readonly name: string;
      readonly res: ServerResponse;
      readonly answered: Promise<unknown>;
    }[] = [];
    const post = async (): Promise<void> => {
      const arrived = Promise.race(
        receivers.map(
          (one) =>
            new Promise<{ readonly name: string; readonly res: ServerResponse }>((resolve) => {
              one.answer = (_req, res) => {
                resolve({ name: one.name, res });
              };
            }),
        ),
      );
      const answered = nginx.post();
      held.push({ ...(await arrived), answered });
    };
    for (let count = 0; count < 6; count += 1) await post();
    expect(requests()).toEqual([2, 2, 2]);
    const ofB = held.filter(({ name }) => name === 'b');
    for (const { res } of ofB) res.end();
    await Promise.all(ofB.map(({ answered }) => answered));
    await post();
    await post();
    expect(requests()).toEqual([2, 4, 2]);
    for (const { res } of held) res.end();
    await Promise.all(held.map(({ answered }) => answered));
  });

  it.each([
    ['', 1],
    [' non_idempotent', 3],
  ])('repeats a refused POST only with non_idempotent: http_503%s, %i requests', async (more, count) => {
    const directive = `proxy_next_upstream error timeout http_503${more}; proxy_http_version`;
    await start(MIN_CONNECTIONS.replace('proxy_http_version', directive));
    for (const one of receivers) one.answer = (_req, res) => res.writeHead(503).end();
    expect((await nginx.post()).status).toBe(503);
    expect(sum()).toBe(count);
  });

  describe('by id', () => {
    it('sends all attempts of a delivery to one receiver, and shares the ids among all', async () => {
      await start(BY_ID);
      const first = await send(ids);
      expect(await send(ids)).toEqual(first);
      for (const name of ['a', 'b', 'c'])
        expect(first.filter((one) => one === name).length).toBeGreaterThan(8);
      const github = ids.map(({ 'webhook-id': id }) => ({ 'x-github-delivery': id }));
      expect(await send(github)).toEqual(first);
    });

    it('shares deliveries without an id among all', async () => {
      await start(BY_ID);
      const names = await send(ids.map(() => ({})));
      for (const name of ['a', 'b', 'c'])
        expect(names.filter((one) => one === name).length).toBeGreaterThan(5);
    });

    it.each(['has died', 'was removed'])('moves only the ids of a receiver that %s', async (end) => {
      const lines = await start(BY_ID);
      const before = await send(ids);
      if (end === 'has died') await receivers[1]?.die();
      else {
        await nginx.stop();
        nginx = new Nginx();
        const servers = [...lines.matchAll(/^ *server 127.*$/gm)].map(([line]) => line);
        await nginx.start(found as NginxProgram, lines.replace(servers[1] as string, ''));
      }
      const after = await send(ids);
      const moved = before.flatMap((name, at) => (name === after[at] ? [] : [name]));
      expect(new Set(moved)).toEqual(new Set(['b']));
      expect(after).not.toContain('b');
    });
  });
});
