import { describe, expect, it, vi } from 'vitest';
import type { Driver } from '../exchange.ts';
import { held } from '../held.ts';
import { expectEnds, type Start } from '../receiver.ts';

/** What hosts, and other middlewares, do to a delivery. */
export function trouble(start: Start, driver: Driver): void {
  describe('a delivery', () => {
    it('is admitted once when its app mounts the middleware twice', async () => {
      const receiver = await start({ concurrency: 1 }, { isMountedTwice: true });
      const reply = await receiver.send({ body: 'once' }).reply;
      expect([reply.status, reply.body]).toEqual([200, 'once']);
      await expectEnds(receiver, { completed: 1 });
    });

    it('is handled, with one warning, when its body was read before the middleware', async () => {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      const handle = held((exchange) => {
        exchange.answer(200, '');
      });
      const receiver = await start({}, { handle: handle.handle, readsBody: true });
      for (const count of [1, 2]) {
        const call = receiver.send();
        await receiver.whenHandled(count);
        handle.release();
        expect((await call.reply).status).toBe(200);
      }
      const shown = [...receiver.errors.splice(0), ...(warn.mock.calls.flat() as unknown[])];
      expect(shown).toEqual([expect.stringMatching(/body/i)]);
      await expectEnds(receiver, { completed: 2 });
    });

    it.runIf(driver.answersForHandlers)('frees its worker when its handler returns nothing', async () => {
      const receiver = await start({ concurrency: 1 }, { handle: () => undefined });
      expect((await receiver.send().reply).status).toBeGreaterThanOrEqual(400);
      expect((await receiver.send().reply).status).toBeGreaterThanOrEqual(400);
      await receiver.when(({ active }) => active === 0);
      expect(receiver.snapshot.totals).toMatchObject({ admitted: 2, started: 2, overdue: 0 });
      receiver.errors.splice(0);
    });

    it('frees its worker when its handler ends after a timeout of the host has responded', async () => {
      let expire = (): void => undefined;
      const deadline = new Promise<void>((resolve) => (expire = resolve));
      const { handle, release } = held(() => undefined);
      const receiver = await start({ concurrency: 1 }, { handle, deadline });
      vi.spyOn(console, 'error').mockReturnValue();
      const late = await receiver.sendToHandle();
      expire();
      expect((await late.reply).status).toBe(504);
      release();
      await receiver.when(({ active }) => active === 0);
      expect(receiver.snapshot.totals).toMatchObject({ admitted: 1, started: 1 });
      receiver.errors.splice(0);
    });
  });
}
