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

    it('gives its permit back while it is handled', async () => {
      const receiver = await start({ concurrency: 1 }, { handle: silent });
      (await receiver.sendToHandle()).vanish();
      await receiver.when(({ totals }) => totals.failed === 1);
      const next = await receiver.sendToHandle();
      expect(next.request.destroyed).toBe(false);
    });

    it('leaves the queue half-way through its body', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      const gone = await receiver.sendToWait({ body: 'half', isUnfinished: true });
      gone.vanish();
      await receiver.when(({ depth }) => depth === 0);
      release();
      await first.reply;
      expect(receiver.handled).toHaveLength(1);
    });

    it('gives its permit back half-way through its body, and the handler is told', async () => {
      let tell: (error: unknown) => void = () => undefined;
      const told = new Promise((resolve) => (tell = resolve));
      const receiver = await start({ concurrency: 1 }, { handle: (exchange) => exchange.read().catch(tell) });
      const gone = await receiver.sendToHandle({ body: 'half', isUnfinished: true });
      gone.vanish();
      await receiver.when(({ totals }) => totals.failed === 1);
      expect(await told).toBeInstanceOf(Error);
    });

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

    it('takes all deliveries of its connection along, the ones behind the first too', async () => {
      const receiver = await start({ concurrency: 3 }, { handle: silent });
      const socket = connect(receiver.port);
      const request = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';
      socket.write(request.repeat(20));
      await receiver.when(({ active, depth }) => active === 3 && depth === 17);
      expect(receiver.sockets[0]?.listenerCount('close')).toBeLessThan(10);
      socket.destroy();
      await receiver.when(({ active, depth }) => active + depth === 0);
      expect(receiver.snapshot.totals.withdrawn.abandoned + receiver.snapshot.totals.failed).toBe(20);
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
