import { describe, expect, it } from 'vitest';
import { expectRefusal, REFUSALS } from '../answers.ts';
import { held } from '../held.ts';
import type { Start } from '../receiver.ts';

/** Shutdown. */
export function closing(start: Start): void {
  describe('a receiver that shuts down', () => {
    it('refuses new deliveries, handles waiting ones, and then closes', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      const waiting = await receiver.sendToWait();
      const report = receiver.intake.close();
      expect(receiver.snapshot.state).toBe('closing');
      const { headers } = await expectRefusal(receiver.send().reply, REFUSALS.closing503);
      expect(headers.connection).toBe('close');
      release();
      await receiver.whenHandled(2);
      release();
      expect([(await first.reply).status, (await waiting.reply).status]).toEqual([200, 200]);
      expect(await report).toEqual({ completed: 2, refused: 0, remaining: 0 });
      await expectRefusal(receiver.send().reply, REFUSALS.closing503);
    });

    it('refuses deliveries that still wait at the timeout', async () => {
      const { handle, release } = held();
      const receiver = await start({ concurrency: 1 }, { handle });
      const first = await receiver.sendToHandle();
      const waiting = await receiver.sendToWait();
      const report = receiver.intake.close({ timeoutMs: 1000 });
      receiver.clock.advance(1000);
      const { headers } = await expectRefusal(waiting.reply, REFUSALS.closing503);
      expect(headers.connection).toBe('close');
      expect(await report).toEqual({ completed: 0, refused: 1, remaining: 1 });
      release();
      expect((await first.reply).status).toBe(200);
    });

    it('still skips requests that are not deliveries', async () => {
      const receiver = await start();
      await receiver.intake.close();
      expect((await receiver.send({ method: 'GET' }).reply).status).toBe(200);
    });
  });
}
