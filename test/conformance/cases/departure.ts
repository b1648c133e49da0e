import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { held, silent } from '../held.ts';
import type { Start } from '../receiver.ts';

/** A sender that hangs up: what becomes of its delivery. */
export function departure(start: Start): void {
  describe('a sender that hangs up', () => {
    it('leaves the queue at once, and its handler never runs', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      const gone = await receiver.sendToWait();
      const staying = await receiver.sendToWait();
      gone.vanish();
      await receiver.when(({ depth }) => depth === 1);
      expect(receiver.snapshot.totals.withdrawn.abandoned).toBe(1);
      for (const count of [1, 2]) {
        await receiver.whenHandled(count);
        release();
      }
      expect([(await first.reply).status, (await staying.reply).status]).toEqual([200, 200]);
      expect(receiver.handled).toHaveLength(2);
      expect(receiver.snapshot.totals).toMatchObject({ started: 2, completed: 2 });
      expect(receiver.errors).toEqual([]);
    });

    it('gives its worker back after maxHandlingMs when its handler never ends', async () => {
      const receiver = await start({ concurrency: 1, maxHandlingMs: 5000 }, { handle: silent });
      (await receiver.sendToHandle()).vanish();
      await receiver.whenClosed(0);
      expect(receiver.snapshot.active).toBe(1);
      receiver.clock.advance(5100);
      const next = await receiver.sendToHandle();
      expect(next.request.destroyed).toBe(false);
    });

    it('holds no place and no worker half-way through a small body', async () => {
      const receiver = await start({ concurrency: 1 });
      const gone = receiver.send({ body: 'half', isUnfinished: true });
      await receiver.whenAsked(1);
      expect((await receiver.send().reply).status).toBe(200);
      gone.vanish();
      await receiver.whenClosed(0);
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals).toMatchObject({ admitted: 1, failed: 0 });
    });

    it('holds no place and no worker half-way through a large body', async () => {
      const receiver = await start({ concurrency: 1 });
      const gone = receiver.send({ body: 'x'.repeat(300_000), isUnfinished: true });
      await receiver.whenAsked(1);
      expect((await receiver.send().reply).status).toBe(200);
      gone.vanish();
      await receiver.whenClosed(0);
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals).toMatchObject({ admitted: 1, failed: 0 });
    });

    it.each([100_000, 900_000])(
      'is not handled when it left while its body of %i bytes waited',
      async (size) => {
        const { handle, release } = held();
        const receiver = await start({ concurrency: 1 }, { handle });
        const first = await receiver.sendToHandle();
        const gone = await receiver.sendToWait({ body: 'x'.repeat(size) });
        gone.vanish();
        await receiver.when(({ depth }) => depth === 0);
        release();
        await first.reply;
        await receiver.when(({ active, depth }) => active + depth === 0);
        expect(receiver.handled).toHaveLength(1);
      },
    );

    it('is not handled when it left in the moment of its start', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      await receiver.sendToWait();
      const gone = receiver.requests[1]?.socket;
      // The permit is given, and before anybody is told of it the connection breaks.
      receiver.intake.subscribe((event) => {
        if (event.type === 'started') gone?.destroy();
      });
      release();
      await first.reply;
      await receiver.when(({ active, depth }) => active + depth === 0);
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals).toMatchObject({ started: 2, completed: 1, failed: 1 });
    });

    it('holds one worker however many requests it sends on one connection', async () => {
      const receiver = await start({ concurrency: 3, maxHandlingMs: 5000 }, { handle: silent });
      const socket = connect(receiver.port);
      const request = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
      socket.write(request.repeat(20));
      await receiver.whenAsked(20);
      await receiver.when(({ active }) => active === 1);
      expect(receiver.snapshot.depth).toBe(0);
      expect(receiver.sockets[0]?.listenerCount('close')).toBeLessThan(10);
      socket.destroy();
      await receiver.whenClosed(0);
      receiver.clock.advance(5100);
      expect(receiver.snapshot).toMatchObject({ active: 0, totals: { admitted: 1 } });
      expect((await receiver.sendToHandle()).request.destroyed).toBe(false);
    });

    it('can be served in turn on one connection', async () => {
      const receiver = await start({ concurrency: 1 });
      const socket = connect(receiver.port);
      const request = (body: string): string =>
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
      socket.write(['one', 'two', 'three'].map(request).join(''));
      let received = '';
      socket.on('data', (chunk) => (received += String(chunk)));
      await receiver.when(({ totals }) => totals.completed === 3);
      socket.end();
      await once(socket, 'end');
      expect(received.match(/one|two|three/g)).toEqual(['one', 'two', 'three']);
    });
  });
}
