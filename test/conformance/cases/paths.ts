import { describe, expect, it } from 'vitest';
import type { Start } from '../receiver.ts';
import { OTHER_TARGETS, WEBHOOK_TARGETS } from '../target-variants.ts';

/** The option `path`, with the targets as each adapter reads them. */
export function paths(start: Start): void {
  describe('path', () => {
    it('limits each target that may be routed to the path', async () => {
      const receiver = await start({ path: '/webhooks' });
      // Node-server answers two of them itself.
      const reached = new Set<string>();
      for (const path of WEBHOOK_TARGETS) {
        if ((await receiver.send({ path }).reply).status !== 400) reached.add(path);
      }
      expect(reached.size).toBeGreaterThanOrEqual(WEBHOOK_TARGETS.length - 2);
      expect(receiver.handled).toHaveLength(reached.size);
      expect(receiver.handled.map(({ info }) => info?.key)).toEqual([...reached].map(() => 'default'));
    });

    it('passes other targets, and the methods that pass by default', async () => {
      const receiver = await start({ path: ['/webhooks', '/hooks'] });
      for (const path of OTHER_TARGETS) expect((await receiver.send({ path }).reply).status).toBe(200);
      await receiver.send({ path: '/webhooks', method: 'GET' }).reply;
      expect(receiver.handled.map(({ info }) => info)).toEqual(receiver.requests.map(() => undefined));
      expect(receiver.snapshot.totals.admitted).toBe(0);
      await receiver.send({ path: '/hooks/shop' }).reply;
      expect(receiver.snapshot.totals.admitted).toBe(1);
    });

    it('leaves the rest to skip', async () => {
      const asked: string[] = [];
      const skip = ({ method }: { method: string }): boolean => asked.push(method) > 1;
      const receiver = await start({ path: '/webhooks', skip });
      for (const path of ['/orders', '/webhooks', '/webhooks']) await receiver.send({ path }).reply;
      expect(asked).toEqual(['POST', 'POST']);
      expect(receiver.snapshot.totals.admitted).toBe(1);
    });
  });
}
