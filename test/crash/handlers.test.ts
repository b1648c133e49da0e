import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLog } from './handler-log.ts';
import { Receiver, type ReceiverSettings } from './receiver.ts';
import { Sender } from './sender.ts';
import { readFile, rememberedOf } from './sqlite-audit.ts';

const ATTEMPTS = 3;
const SETTINGS: ReceiverSettings = { concurrency: 4, attempts: ATTEMPTS, maxHandlingMs: 60_000 };
const NEIGHBOURS = Array.from({ length: 12 }, (_, at) => `neighbour-${String(at)}`);
const REMEMBERED = NEIGHBOURS.map((id) => rememberedOf({ key: 'default', id })).sort();

let folder: string;
let file: string;
let sender: Sender;
let living: Receiver | undefined;
let lives = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wbp-handlers-'));
  file = join(folder, 'webhooks.db');
  sender = new Sender();
  lives = 0;
});
afterEach(async () => {
  sender.hangUp();
  await living?.kill();
  rmSync(folder, { recursive: true });
});

async function start(settings: ReceiverSettings): Promise<Receiver> {
  living = new Receiver({
    role: 'both',
    store: { path: file },
    log: join(folder, 'handled.log'),
    life: lives++,
    ...settings,
  });
  await living.start();
  return living;
}

function startsOf(id: string): number {
  const log = readLog(join(folder, 'handled.log'));
  return log.filter((event) => event.type === 'started' && event.id === id).length;
}

describe('a delivery whose handler kills the process', () => {
  it('becomes a dead letter after its attempts, and the others are processed', async () => {
    let receiver = await start(SETTINGS);
    // All are stored before the first slow handler starts, and none is acknowledged twice.
    const poison = sender.send(receiver.port, 'poison', { does: 'kill' });
    await Promise.all([...NEIGHBOURS.map((id) => sender.send(receiver.port, id, { tookMs: 5 })), poison]);
    await receiver.died;
    while (lives <= 2 * ATTEMPTS) {
      receiver = await start(SETTINGS);
      if (!receiver.isAlive) continue;
      const missing = ['poison', ...NEIGHBOURS].filter((id) => !sender.acknowledged.has(id));
      await Promise.all(
        missing.map((id) => sender.send(receiver.port, id, id === 'poison' ? { does: 'kill' } : {})),
      );
      if (await receiver.drain()) break;
    }
    // Each of its attempts has cost one life. The first one does not count, because another delivery may have been the
    // cause.
    expect(startsOf('poison')).toBe(ATTEMPTS + 1);
    expect(lives).toBe(ATTEMPTS + 2);
    await receiver.kill();
    const { completed, deadLetters, unfinished } = readFile(file);
    expect({ completed: [...completed].sort(), deadLetters, unfinished }).toEqual({
      completed: REMEMBERED,
      deadLetters: ['poison'],
      unfinished: 0,
    });
  }, 60_000);
});

describe('a delivery whose handler never ends', () => {
  it('fails, becomes a dead letter, and does not block the others', async () => {
    const receiver = await start({ ...SETTINGS, concurrency: 2, maxHandlingMs: 50 });
    await Promise.all([
      sender.send(receiver.port, 'hanging', { does: 'hang' }),
      ...NEIGHBOURS.map((id) => sender.send(receiver.port, id, {})),
    ]);
    expect(await receiver.drain()).toBe(true);
    await receiver.kill();
    expect(startsOf('hanging')).toBe(ATTEMPTS);
    const { completed, deadLetters } = readFile(file);
    expect([...completed].sort()).toEqual(REMEMBERED);
    expect(deadLetters).toEqual(['hanging']);
  }, 60_000);
});
