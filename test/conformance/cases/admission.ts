import { describe, expect, it } from 'vitest';
import { trace, type Start } from '../receiver.ts';
import { held } from '../held.ts';

/** Admitted deliveries: when they start, and what their handlers receive. */
export function admission(start: Start): void {
  describe('an admitted delivery', () => {
    it('starts immediately when a worker is free', async () => {
      const receiver = await start();
      const { status, body } = await receiver.send({ body: 'paid' }).reply;
      expect([status, body]).toEqual([200, 'paid']);
      expect(receiver.handled[0]?.info).toEqual({
        key: 'default',
        sender: undefined,
        id: undefined,
        waitedMs: 0,
      });
    });

    it('waits with its body unread while no worker is free', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      await receiver.sendToHandle();
      const body = 'x'.repeat(300_000);
      const waiting = await receiver.sendToWait({ body });
      // The kernel and node buffer a part of it, but no reader has started.
      expect(receiver.requests[1]?.readableFlowing).toBe(null);
      expect(receiver.handled).toHaveLength(1);
      receiver.clock.advance(70);
      release();
      await receiver.whenHandled(2);
      release();
      expect((await waiting.reply).body).toBe(body);
      expect(receiver.handled[1]?.info?.waitedMs).toBe(70);
    });

    it('starts in the order of arrival', async () => {
      const { handle, release } = held();
      const receiver = await start(
        { concurrency: 1, delivery: (asked) => ({ id: asked.header('x-id') }) },
        { handle },
      );
      const ids = ['first', 'a', 'b', 'c'];
      await receiver.sendToHandle({ headers: { 'x-id': 'first' } });
      for (const id of ids.slice(1)) await receiver.sendToWait({ headers: { 'x-id': id } });
      for (const count of [1, 2, 3, 4]) {
        await receiver.whenHandled(count);
        release();
      }
      expect(receiver.handled.map(({ info }) => info?.id)).toEqual(ids);
    });

    it('is handled in the async context of its request', async () => {
      const found: unknown[] = [];
      const { handle, release } = held((exchange) => {
        found.push(trace.getStore());
        exchange.answer(200, '');
      });
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle({ headers: { 'x-trace': 'first' } });
      const second = await receiver.sendToWait({ headers: { 'x-trace': 'second' } });
      release();
      await receiver.whenHandled(2);
      release();
      await Promise.all([first.reply, second.reply]);
      expect(found).toEqual(['first', 'second']);
    });

    it('passes the key and the id from the options to its handler', async () => {
      const receiver = await start({
        keyGenerator: (asked) => asked.header('x-shop') ?? 'none',
        delivery: (asked) => ({ id: asked.header('x-id') }),
      });
      await receiver.send({ headers: { 'x-shop': 'shop-1', 'x-id': 'evt_1' } }).reply;
      await receiver.send().reply;
      expect(receiver.handled.map(({ info }) => [info?.key, info?.id])).toEqual([
        ['shop-1', 'evt_1'],
        ['none', undefined],
      ]);
    });

    it('runs concurrently with others, up to the concurrency', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 3 }, { handle });
      const calls = [await receiver.sendToHandle(), await receiver.sendToHandle()];
      calls.push(await receiver.sendToHandle(), await receiver.sendToWait());
      expect(receiver.snapshot).toMatchObject({ active: 3, depth: 1 });
      for (const count of [1, 2, 3, 4]) {
        await receiver.whenHandled(count);
        release();
      }
      expect((await Promise.all(calls.map((call) => call.reply))).map(({ status }) => status)).toEqual([
        200, 200, 200, 200,
      ]);
    });

    it('starts in a dry run even if it would have been queued or refused', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1, capacity: 1, dryRun: true }, { handle });
      const calls = [1, 2, 3].map(() => receiver.send());
      await receiver.whenHandled(3);
      const replies = calls.map(({ reply }) => {
        release();
        return reply;
      });
      expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(receiver.snapshot.totals.refused.full).toBe(1);
    });
  });
}
