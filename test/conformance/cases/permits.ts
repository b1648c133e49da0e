import { describe, expect, it, vi } from 'vitest';
import type { Driver, Exchange, Outflow } from '../exchange.ts';
import { held, silent } from '../held.ts';
import { expectEnds, type Receiver, type Start } from '../receiver.ts';

/** A permit is released exactly once, regardless of the handler. */
export function permits(start: Start, driver: Driver): void {
  describe('the permit', () => {
    it('is released with the response', async () => {
      const receiver = await start();
      await receiver.send().reply;
      await expectEnds(receiver, { completed: 1 });
    });

    it.each([500, 503])('ends as a failure when the response is %i', async (status) => {
      const receiver = await start(
        {},
        {
          handle: (exchange) => {
            exchange.answer(status, '');
          },
        },
      );
      expect((await receiver.send().reply).status).toBe(status);
      await expectEnds(receiver, { failed: 1 });
    });

    it('ends as a success when the response is 404', async () => {
      const receiver = await start(
        {},
        {
          handle: (exchange) => {
            exchange.answer(404, '');
          },
        },
      );
      await receiver.send().reply;
      await expectEnds(receiver, { completed: 1 });
    });

    it.each([
      [
        'throws',
        () => {
          throw new Error('handler failed');
        },
      ],
      ['rejects', () => Promise.reject(new Error('handler failed'))],
      [
        'reads and then rejects',
        async (exchange: Exchange) => {
          await exchange.read();
          throw new Error('handler failed');
        },
      ],
    ])('ends as a failure when the handler %s, and the error reaches the framework', async (_how, handle) => {
      const receiver = await start({}, { handle });
      expect((await receiver.send().reply).status).toBe(500);
      expect(receiver.errors.map(String)).toEqual([expect.stringContaining('handler failed')]);
      await expectEnds(receiver, { failed: 1 });
    });

    it('is revoked when the handler never responds', async () => {
      const receiver = await start({ concurrency: 1, maxHandlingMs: 5000 }, { handle: silent });
      await receiver.sendToHandle();
      await receiver.sendToWait();
      receiver.clock.advance(5100);
      await receiver.whenHandled(2);
      expect(receiver.snapshot.totals).toMatchObject({ overdue: 1, failed: 1, completed: 0 });
    });

    it('is not released again when a handler responds after that', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1, maxHandlingMs: 5000 }, { handle });
      const late = await receiver.sendToHandle();
      receiver.clock.advance(5100);
      const second = await receiver.sendToHandle();
      release();
      expect((await late.reply).status).toBe(200);
      expect(receiver.snapshot.active).toBe(1);
      release();
      await second.reply;
      await receiver.when(({ active }) => active === 0);
      expect(receiver.snapshot.totals).toMatchObject({ overdue: 1, failed: 1, completed: 1 });
    });
  });

  describe('the permit of a streamed response', () => {
    async function streaming(): Promise<{
      receiver: Receiver;
      call: Awaited<ReturnType<Receiver['sendToHandle']>>;
      outflow: Outflow;
    }> {
      let outflow: Outflow | undefined;
      const receiver = await start(
        { concurrency: 1 },
        {
          handle(exchange) {
            outflow = exchange.stream();
            outflow.write('first ');
          },
        },
      );
      const call = await receiver.sendToHandle();
      await call.head;
      return { receiver, call, outflow: outflow as Outflow };
    }

    it('is held until the stream has ended', async () => {
      const { receiver, call, outflow } = await streaming();
      const waiting = await receiver.sendToWait();
      for (let minute = 0; minute < 3; minute += 1) {
        outflow.write(`${String(minute)} `);
        receiver.clock.advance(3_000);
      }
      expect(receiver.snapshot).toMatchObject({ active: 1, depth: 1 });
      outflow.end();
      expect((await call.reply).body).toBe('first 0 1 2 ');
      await receiver.whenHandled(2);
      expect(receiver.snapshot.totals.completed).toBe(1);
      waiting.vanish();
    });

    it('ends as a failure when its sender disconnects in the middle', async () => {
      const { receiver, call, outflow } = await streaming();
      call.vanish();
      await receiver.whenClosed(0);
      outflow.write('unread');
      outflow.end();
      await expectEnds(receiver, { failed: 1 });
      const next = await receiver.sendToHandle();
      expect((await next.head).statusCode).toBe(200);
    });

    it('ends as a failure when the stream fails', async () => {
      const { receiver, call, outflow } = await streaming();
      // Where Hono's server reports it.
      vi.spyOn(console, 'error').mockReturnValue();
      outflow.fail(new Error('source failed'));
      if (driver.cutsBrokenStreams) await expect(call.reply).rejects.toThrow();
      else call.vanish();
      await expectEnds(receiver, { failed: 1 });
    });
  });

  if (!driver.hasNext) return;
  it('releases its permit once when a later middleware calls next twice', async () => {
    const receiver = await start({ concurrency: 1 }, { isNextTwice: true });
    await receiver.send().reply;
    await receiver.when(({ active }) => active === 0);
    expect(receiver.snapshot.totals).toMatchObject({ admitted: 1, started: 1 });
    await receiver.send().reply;
    await receiver.when(({ active }) => active === 0);
    expect(receiver.snapshot.totals).toMatchObject({ admitted: 2, started: 2 });
  });
}
