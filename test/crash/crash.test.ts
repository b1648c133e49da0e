import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkHistory } from '@webhook-backpressure/core/testing';
import { crash, type Outcome } from './crashes.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 2);
const seed = Number(process.env['CRASH_SEED'] ?? 1);
const SECONDS_PER_KILL = 6;

describe(`a receiver that is killed ${String(kills)} times, with the seed ${String(seed)}`, () => {
  // On a real disk, which the commits have to reach.
  const folder = mkdtempSync(join(tmpdir(), 'wbp-crash-'));
  let outcome: Outcome;

  beforeAll(
    async () => {
      const startedAt = performance.now();
      const plan = { file: join(folder, 'webhooks.db'), log: join(folder, 'handled.log'), kills, seed };
      outcome = await crash(plan);
      const { sender, history, stored } = outcome;
      console.log(
        [
          `kills ${String(kills)}, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
          `acknowledged ${String(sender.acknowledged.size)}, requests without an acknowledgement ${String(sender.failures)}`,
          `completed ${String(stored.completed.length)}, unfinished ${String(stored.unfinished)}, dead letters ${String(stored.deadLetters.length)}`,
          `handlers started ${String(history.filter(({ type }) => type === 'started').length)}`,
          `integrity check: ${stored.integrity}`,
        ].join('\n'),
      );
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('processes every delivery that it acknowledged, and repeats no more after a kill than ran concurrently', () => {
    const { sender, history, stored } = outcome;
    expect(sender.acknowledged.size).toBeGreaterThan(kills);
    expect(checkHistory(history)).toEqual([]);
    expect(stored).toMatchObject({ unfinished: 0, deadLetters: [], integrity: 'ok' });
  });
});
