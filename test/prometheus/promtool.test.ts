import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { collect } from '@webhook-backpressure/prometheus';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createBench, occupy } from '../core/harness.ts';
import { InboxBench } from '../core/inbox/inbox-bench.ts';

/** Prometheus's own tool, where it is installed: apt-get install prometheus, or brew install prometheus. */
const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool';
const isThere = spawnSync(PROMTOOL, ['--version']).status === 0;
if (!isThere)
  console.warn(`${PROMTOOL} is not installed: neither the alerts nor a scrape are checked by it.`);

describe.runIf(isThere)('promtool', () => {
  it('finds that each alert fires when it should, and not when all is well', () => {
    const file = join(import.meta.dirname, 'alerts-promtool.yaml');
    expect(execFileSync(PROMTOOL, ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  it('finds nothing wrong with a scrape', async () => {
    const register = new Registry();
    const { intake } = createBench({ capacity: 1 });
    const bench = new InboxBench();
    collect(intake, { register, name: 'orders', keys: 2 });
    collect(bench.inbox, { register, name: 'orders', keys: 2 });
    for (const key of ['a', 'b', 'c']) occupy(intake, key).pop()?.release();
    for (let at = 0; at < 20; at += 1) intake.admit({ key: 'a\n"\\' });
    await bench.deliver('evt_1');
    await bench.last.finish();
    const { status, stdout, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], {
      input: await register.metrics(),
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  });
});
