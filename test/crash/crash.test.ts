import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crash, SETTINGS, type Outcome } from './crashes.ts';
import { mostRepeatsOfALife } from './handler-log.ts';
import { rememberedAs } from './sqlite-audit.ts';

const kills = Number(process.env['CRASH_KILLS'] ?? 5);
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
      const { sender, handled, stored } = outcome;
      console.log(
        [
          `kills ${String(kills)}, seed ${String(seed)}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
          `acknowledged ${String(sender.acknowledged.size)}, requests without an acknowledgement ${String(sender.failures)}`,
          `completed ${String(stored.completed.length)}, unfinished ${String(stored.unfinished)}, dead letters ${String(stored.deadLetters.length)}`,
          `handlers begun again ${String(handled.repeats.length)}, at most ${String(mostRepeatsOfALife(handled))} after one kill`,
          `integrity check: ${stored.integrity}`,
        ].join('\n'),
      );
    },
    (kills + 10) * SECONDS_PER_KILL * 1000,
  );

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('processes every delivery that it acknowledged', () => {
    const { sender, handled } = outcome;
    expect(sender.acknowledged.size).toBeGreaterThan(kills);
    expect([...sender.acknowledged].filter((id) => !handled.ended.has(id))).toEqual([]);
  });

  it('completes each delivery once in the store, and leaves none unfinished', () => {
    const { sender, stored } = outcome;
    expect([...stored.completed].sort()).toEqual([...sender.acknowledged].map(rememberedAs).sort());
    expect(stored).toMatchObject({ unfinished: 0, deadLetters: [], integrity: 'ok' });
  });

  it('restarts no more handlers after a kill than ran concurrently', () => {
    expect(mostRepeatsOfALife(outcome.handled)).toBeLessThanOrEqual(SETTINGS.concurrency);
  });
});
