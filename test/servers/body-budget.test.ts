import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BodyArrivals } from '../../packages/node/src/request/arrival.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A request of 2 MiB of which `arrived` bytes have reached the socket. Node reads them when its buffer has room. */
function unfinished(arrivedBytes: number): IncomingMessage {
  let left = arrivedBytes;
  const body = new Readable({
    highWaterMark: 16 * KIB,
    read() {
      if (left <= 0) return;
      const chunk = Buffer.alloc(Math.min(left, 64 * KIB));
      left -= chunk.length;
      // In a later turn, as from a socket.
      void setImmediate().then(() => this.push(chunk));
    },
  });
  const headers = { 'content-length': String(2 * MIB) };
  return Object.assign(body, { complete: false, httpVersionMajor: 1, headers }) as unknown as IncomingMessage;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await setImmediate();
}

describe('arriving bodies', () => {
  it('take at most 64 MiB of memory together', async () => {
    const arrivals = new BodyArrivals(60_000);
    const requests = Array.from({ length: 200 }, () => unfinished(960 * KIB));
    const here = requests.map((req) => arrivals.wait(req));
    await turns(100);
    const heldBytes = requests.reduce((sum, { readableLength }) => sum + readableLength, 0);
    // In addition, each holds the packet that node had already read.
    expect(heldBytes).toBeLessThanOrEqual(64 * MIB + 200 * 64 * KIB);
    expect(heldBytes).toBeGreaterThan(32 * MIB);
    // A request outside the budget waits for a worker with the bytes that it has.
    expect(await Promise.race([...here, turns(1).then(() => 'none')])).toBe('here');

    for (const req of requests) arrivals.release(req);
    const next = unfinished(960 * KIB);
    void arrivals.wait(next);
    await turns(50);
    expect(next.readableLength).toBe(960 * KIB);
    for (const req of [...requests, next]) req.destroy();
  });
});
