import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Driver } from '../exchange.ts';
import { held } from '../held.ts';
import { expectEnds, type Start } from '../receiver.ts';

/** A permit is held while its handler runs, even if the sender disconnects. */
export function handlers(start: Start, driver: Driver): void {
  describe('the permit of a handler', () => {
    it('is held until the handler ends when the sender has disconnected', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const gone = await receiver.sendToHandle();
      gone.vanish();
      await receiver.whenClosed(0);
      const next = await receiver.sendToWait();
      expect(receiver.snapshot).toMatchObject({ active: 1, totals: { failed: 0 } });
      release();
      await receiver.whenHandled(2);
      expect(receiver.snapshot.totals).toMatchObject({ started: 2, failed: 1 });
      release();
      expect((await next.reply).status).toBe(200);
      await expectEnds(receiver, { completed: 1, failed: 1 });
    });

    it('is held when senders time out, so that no more handlers run than there are workers', async () => {
      let running = 0;
      let most = 0;
      const { handle, release } = held((exchange) => {
        running -= 1;
        exchange.answer(200, '');
      });
      const receiver = await start(
        { concurrency: 2 },
        {
          handle(exchange) {
            running += 1;
            most = Math.max(most, running);
            return handle(exchange);
          },
        },
      );
      for (const count of [1, 2]) {
        (await receiver.sendToHandle()).vanish();
        await receiver.whenClosed(count - 1);
      }
      for (let index = 2; index < 10; index += 1) {
        const gone = await receiver.sendToWait();
        gone.vanish();
        await receiver.when(({ depth }) => depth === 0);
      }
      release();
      release();
      await receiver.when(({ active }) => active === 0);
      expect(most).toBe(2);
      expect(receiver.snapshot.totals).toMatchObject({ started: 2, failed: 2, withdrawn: { abandoned: 8 } });
    });

    it('is held by waitUntil after the response', async () => {
      let finish: () => void = () => undefined;
      const receiver = await start(
        { concurrency: 1 },
        {
          handle(exchange) {
            exchange.info?.waitUntil(new Promise<void>((resolve) => (finish = resolve)));
            exchange.answer(202, '');
          },
        },
      );
      expect((await receiver.send().reply).status).toBe(202);
      await receiver.sendToWait();
      expect(receiver.snapshot).toMatchObject({ active: 1, depth: 1 });
      finish();
      await receiver.whenHandled(2);
      expect(receiver.snapshot.totals).toMatchObject({ completed: 1, failed: 0 });
      finish();
    });

    it('ends as a failure with a warning when the work after the response fails', async () => {
      const receiver = await start(
        {},
        {
          handle(exchange) {
            exchange.info?.waitUntil(Promise.reject(new Error('work failed')));
            exchange.answer(202, '');
          },
        },
      );
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      await receiver.send().reply;
      await receiver.send().reply;
      await expectEnds(receiver, { failed: 2 });
      const shown = [...receiver.errors.splice(0), ...(warn.mock.calls.flat() as unknown[])];
      expect(shown).toEqual([expect.stringContaining('work failed')]);
    });

    it.each([
      undefined,
      5,
      { then: 1 },
      {
        then: () => {
          throw new Error('then failed');
        },
      },
    ])('is not leaked when waitUntil receives %o instead of a promise', async (given) => {
      const receiver = await start(
        { concurrency: 1 },
        {
          handle(exchange) {
            exchange.info?.waitUntil(given as unknown as Promise<unknown>);
            exchange.answer(202, '');
          },
        },
      );
      vi.spyOn(console, 'warn').mockReturnValue();
      await receiver.send().reply;
      await receiver.when(({ active }) => active === 0);
      receiver.errors.splice(0);
    });

    it('is held until the handler ends when the sender breaks the protocol', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const socket = connect(receiver.port);
      socket.on('error', () => undefined);
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
      await receiver.whenHandled(1);
      socket.write('nonsense\r\n\r\n');
      await receiver.whenClosed(0);
      await receiver.sendToWait();
      expect(receiver.snapshot).toMatchObject({ active: 1, depth: 1 });
      release();
      await receiver.whenHandled(2);
      expect(receiver.snapshot.totals.failed).toBe(1);
      release();
    });

    it.runIf(driver.seesConnection)(
      'ends as a failure when the sender disconnects before it has received its response',
      async () => {
        const receiver = await start(
          {},
          {
            handle(exchange) {
              exchange.answer(200, 'x'.repeat(16 * 1024 * 1024));
            },
          },
        );
        const call = receiver.send();
        const head = await call.head;
        head.pause();
        call.vanish();
        await expectEnds(receiver, { failed: 1 });
      },
    );

    it('is revoked as overdue from a handler that ignores its signal', async () => {
      let signal: AbortSignal | undefined;
      const { handle, release } = held();
      const receiver = await start(
        { concurrency: 1, maxHandlingMs: 5000 },
        {
          handle(exchange) {
            signal = exchange.info?.signal;
            return handle(exchange);
          },
        },
      );
      const call = await receiver.sendToHandle();
      receiver.clock.advance(5100);
      expect(signal?.aborted).toBe(true);
      expect(signal?.reason).toMatchObject({ name: 'TimeoutError' });
      expect(receiver.snapshot.totals.overdue).toBe(1);
      release();
      expect((await call.reply).status).toBe(200);
    });

    it('aborts its signal when the sender disconnects', async () => {
      let signal: AbortSignal | undefined;
      const receiver = await start(
        { concurrency: 1 },
        {
          async handle(exchange) {
            signal = exchange.info?.signal;
            await new Promise((resolve) => signal?.addEventListener('abort', resolve));
            exchange.answer(200, '');
          },
        },
      );
      (await receiver.sendToHandle()).vanish();
      await expectEnds(receiver, { failed: 1 });
      expect(signal?.aborted).toBe(true);
      // The duration of an aborted handler does not show how long the work takes.
      expect(receiver.snapshot.drainRate).toBe(null);
    });
  });
}
