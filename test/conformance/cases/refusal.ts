import { describe, expect, it } from 'vitest';
import { expectRefusal, REFUSALS } from '../answers.ts';
import { held } from '../held.ts';
import type { Start } from '../receiver.ts';

/** One delivery is handled, one waits, the next is refused. */
const SMALLEST = { concurrency: 1, capacity: 1 };

/** Refused deliveries: what their senders see. */
export function refusal(start: Start): void {
  describe('a refused delivery', () => {
    it('gets 503 when its sender is unknown', async () => {
      const receiver = await start(SMALLEST, held());
      await receiver.sendToHandle();
      await receiver.sendToWait();
      await expectRefusal(receiver.send().reply, REFUSALS.full503);
      expect(receiver.handled).toHaveLength(1);
    });

    it('gets 429 when its key is the cause, otherwise 503', async () => {
      const receiver = await start(
        { ...SMALLEST, keyGenerator: (asked) => asked.header('x-shop') ?? '' },
        held(),
      );
      const headers = { 'x-shop': 'noisy' };
      await receiver.sendToHandle({ headers });
      await receiver.sendToWait({ headers });
      await expectRefusal(receiver.send({ headers }).reply, REFUSALS.full429);
      await expectRefusal(receiver.send({ headers: { 'x-shop': 'quiet' } }).reply, REFUSALS.full503);
    });

    it('keeps its connection open for later deliveries', async () => {
      const { handle, release } = held();
      const receiver = await start(SMALLEST, { handle });
      await receiver.sendToHandle();
      const waiting = await receiver.sendToWait();
      const first = await expectRefusal(receiver.send().reply, REFUSALS.full503);
      const listeners = listenerCounts(receiver.sockets.at(-1));
      for (let i = 0; i < 20; i += 1) {
        const reply = await expectRefusal(receiver.send({ body: 'x'.repeat(i) }).reply, REFUSALS.full503);
        expect(reply.socket).toBe(first.socket);
      }
      expect(listenerCounts(receiver.sockets.at(-1))).toEqual(listeners);
      release();
      await receiver.whenHandled(2);
      release();
      await waiting.reply;
      const last = await receiver.sendToHandle();
      release();
      expect((await last.reply).status).toBe(200);
      expect(receiver.sockets).toHaveLength(3);
    });

    it('was displaced by a newer one with overflow drop-oldest', async () => {
      const { handle, release } = held();
      const receiver = await start({ ...SMALLEST, overflow: 'drop-oldest' }, { handle });
      await receiver.sendToHandle();
      const oldest = await receiver.sendToWait({ body: 'oldest' });
      const newest = receiver.send({ body: 'newest' });
      await expectRefusal(oldest.reply, REFUSALS.displaced503);
      release();
      await receiver.whenHandled(2);
      release();
      expect((await newest.reply).body).toBe('newest');
      expect(receiver.snapshot.totals.withdrawn.displaced).toBe(1);
    });

    it('has waited for longer than maxWaitMs', async () => {
      const receiver = await start({ ...SMALLEST, maxWaitMs: 1000 }, held());
      await receiver.sendToHandle();
      const waiting = await receiver.sendToWait();
      receiver.clock.advance(1100);
      await expectRefusal(waiting.reply, REFUSALS.wait503);
      expect(receiver.snapshot.totals.withdrawn.expired).toBe(1);
      expect(receiver.handled).toHaveLength(1);
    });

    it('belongs to a key of the option shed', async () => {
      const receiver = await start({ shed: { shop: true }, delivery: () => ({ key: 'shop' }) });
      const { status, headers } = await receiver.send().reply;
      expect([status, Number(headers['retry-after'])]).toEqual([503, 66]);
      receiver.intake.update({ shed: {} });
      expect((await receiver.send().reply).status).toBe(200);
    });

    it('gets its response although its large body is unread', async () => {
      const receiver = await start(SMALLEST, held());
      await receiver.sendToHandle();
      await receiver.sendToWait();
      const upload = receiver.send({ body: 'x'.repeat(5_000_000) });
      await expectRefusal(upload.reply, REFUSALS.full503);
    });
  });

  describe('the rate-limit headers', () => {
    it('are absent by default', async () => {
      const receiver = await start();
      const { headers } = await receiver.send().reply;
      expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    });

    it('are set on admitted and refused deliveries', async () => {
      const { handle, release } = held();
      const receiver = await start(
        { concurrency: 1, capacity: 2, standardHeaders: 'draft-8', legacyHeaders: true },
        { handle },
      );
      const first = await receiver.sendToHandle();
      const waiting = [await receiver.sendToWait(), await receiver.sendToWait()];
      const refused = await receiver.send().reply;
      expect(refused.headers).toMatchObject({
        'ratelimit-policy': '"queue";q=2',
        ratelimit: '"queue";r=0;t=5',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '0',
      });
      release();
      expect((await first.reply).headers).toMatchObject({
        'ratelimit-policy': '"queue";q=2',
        ratelimit: '"queue";r=2;t=0',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '2',
      });
      for (const [index, call] of waiting.entries()) {
        await receiver.whenHandled(index + 2);
        release();
        expect((await call.reply).headers).toHaveProperty('ratelimit');
      }
    });
  });
}

function listenerCounts(socket: NodeJS.EventEmitter | undefined): Record<string, number> {
  return Object.fromEntries(
    (socket?.eventNames() ?? []).map((name) => [String(name), socket?.listenerCount(name) ?? 0]),
  );
}
