import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';

/** At which of its calls the program is killed. */
const TIMES = isLong ? [1, 2, 5] : [2];
/** The deliveries that the program receives. */
const COUNT = 40;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'killed-shapes-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs the program until it kills itself, or ends. Returns the signal. */
async function run(shape: string, ...death: string[]): Promise<string | null> {
  const child = fork(join(import.meta.dirname, 'children/shapes.js'), [folder, shape, ...death], {
    execArgv: [],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (signal === null) expect(code).toBe(0);
  return signal;
}

/** How often each handler was called, by the id that it got. */
function calls(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of readFileSync(join(folder, 'calls.txt'), 'utf8').trim().split('\n'))
    counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

describe('a process that is killed', () => {
  it.each([
    ['before the deliveries of the handlers are stored', 'split', 'before'],
    ['after the deliveries of the handlers are stored', 'split', 'after'],
    ['before a settlement is stored', 'settle', 'before'],
    ['after a settlement is stored', 'settle', 'after'],
  ])(
    '%s, loses no delivery of a handler, and repeats only those in flight',
    async (_, ...death) => {
      let kills = 0;
      for (const at of TIMES) if ((await run('split', ...death, String(at))) === 'SIGKILL') kills += 1;
      expect(await run('split')).toBeNull();
      expect(kills).toBe(TIMES.length);
      const found = calls();
      const expected = Array.from({ length: COUNT }, (_one, at) => [`${String(at)}/*`, `${String(at)}/*:a`]);
      expect([...found.keys()].sort()).toEqual(expected.flat().sort());
      // At most the four that ran at each kill.
      expect([...found.values()].reduce((sum, one) => sum + one - 1, 0)).toBeLessThanOrEqual(4 * kills);
    },
    120_000,
  );

  it.each([
    ['when it has claimed more for a batch', 'claimKeys', 'after'],
    ['in the middle of a batch', 'batch', 'during'],
    ['before a batch is settled', 'settle', 'before'],
    ['after a batch is settled', 'settle', 'after'],
  ])(
    '%s, loses no delivery of it',
    async (_, ...death) => {
      let kills = 0;
      for (const at of TIMES.filter((one) => one <= 2))
        if ((await run('batch', ...death, String(at))) === 'SIGKILL') kills += 1;
      expect(await run('batch')).toBeNull();
      expect(kills).toBeGreaterThan(0);
      const found = calls();
      expect([...found.keys()].sort()).toEqual(
        Array.from({ length: COUNT }, (_one, at) => String(at)).sort(),
      );
      expect(Math.max(...found.values())).toBeLessThanOrEqual(1 + kills);
    },
    120_000,
  );
});
