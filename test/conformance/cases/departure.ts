import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Driver } from '../exchange.ts';
import { held, silent } from '../held.ts';
import { expectEnds, type Start } from '../receiver.ts';

/** The deliveries of senders that disconnect. */
export function departure(start: Start, driver: Driver): void {
  describe('a sender that disconnects', () => {
    it('leaves the queue immediately, and its handler never runs', async () => {
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

    it('loses its worker after maxHandlingMs when its handler never ends', async () => {
      const receiver = await start({ concurrency: 1, maxHandlingMs: 5000 }, { handle: silent });
      (await receiver.sendToHandle()).vanish();
      await receiver.whenClosed(0);
      expect(receiver.snapshot.active).toBe(1);
      receiver.clock.advance(5100);
      const next = await receiver.sendToHandle();
      expect(next.request.destroyed).toBe(false);
    });

    it('gets the responses to pipelined requests in order', async () => {
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

  if (driver.seesConnection) seenDeparture(start);
  else unseenDeparture(start);
}

/** What only an adapter can do that sees the connection. */
function seenDeparture(start: Start): void {
  describe('a sender whose connection is seen', () => {
    it('takes no place and no worker in the middle of a small body', async () => {
      const receiver = await start({ concurrency: 1 });
      const gone = receiver.send({ body: 'half', isUnfinished: true });
      await receiver.whenAsked(1);
      expect((await receiver.send().reply).status).toBe(200);
      gone.vanish();
      await receiver.whenClosed(0);
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals).toMatchObject({ admitted: 1, failed: 0 });
    });

    it('takes no place and no worker in the middle of a large body', async () => {
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
      'is not handled when it disconnects while its body of %i bytes waits',
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

    it('is not handled when it disconnects at the moment of its start', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      await receiver.sendToWait();
      const gone = receiver.requests[1]?.socket;
      // The connection breaks after the permit is given and before the handler is called.
      receiver.intake.subscribe((event) => {
        if (event.type === 'started') gone?.destroy();
      });
      release();
      await first.reply;
      await receiver.when(({ active, depth }) => active + depth === 0);
      expect(receiver.handled).toHaveLength(1);
      expect(receiver.snapshot.totals).toMatchObject({ started: 2, completed: 1, failed: 1 });
    });

    it('holds only one worker for many pipelined requests', async () => {
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
  });
}

/** What becomes of a sender that has disconnected without a report to the adapter. */
function unseenDeparture(start: Start): void {
  describe('a sender whose connection is not seen', () => {
    it('frees its worker when it disconnects in the middle of its body', async () => {
      const receiver = await start({ concurrency: 1 });
      const gone = await receiver.sendToHandle({ body: 'half', isUnfinished: true });
      gone.vanish();
      await expectEnds(receiver, { failed: 1 });
      expect(receiver.errors.splice(0)).toHaveLength(1);
    });

    it('frees its worker when it disconnects while its body waits', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      const gone = await receiver.sendToWait({ body: 'half', isUnfinished: true });
      gone.vanish();
      release();
      await first.reply;
      await receiver.whenHandled(2);
      release();
      await expectEnds(receiver, { completed: 1, failed: 1 });
      expect(receiver.errors.splice(0)).toHaveLength(1);
    });
  });
}
