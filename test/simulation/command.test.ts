import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const TOP = join(import.meta.dirname, '..', '..');

const scenario = {
  service: { meanMs: 1000 },
  intake: { capacity: 1, concurrency: 1 },
  policy: 'constant:5',
  arrivals: [{ fromS: 0, toS: 1, perSecond: 4 }],
  senders: [{ key: 'shop', retry: 'retry-after' }],
};

async function simulate(input: string): Promise<{ code: number | null; out: string; error: string }> {
  const child = spawn('npm', ['run', '--silent', 'simulate', '--', '-'], {
    cwd: TOP,
    shell: process.platform === 'win32',
  });
  child.stdin.end(input);
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, out, error };
}

describe('npm run simulate', () => {
  it('prints one JSON object, or one sentence for a mistake', { timeout: 60_000 }, async () => {
    const sound = await simulate(JSON.stringify(scenario));
    expect(JSON.parse(sound.out)).toMatchObject({ events: 4, delivered: 4, clearS: 7.5 });
    expect(sound.code).toBe(0);

    const wrong = await simulate(
      JSON.stringify({ ...scenario, arrivals: [{ fromS: 1, toS: 1, perSecond: 4 }] }),
    );
    expect(wrong).toMatchObject({ code: 1, out: '' });
    expect(wrong.error).toMatch(/^arrivals\[0\]\.toS must be .*, but was 1\.$/m);
  });
});
