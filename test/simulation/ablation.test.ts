import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changesOf, type Means } from './src/ablation/changes.ts';
import { compare } from './src/ablation/compare.ts';
import type { Outcome } from './src/ablation/outcomes.ts';
import { formatAblation, renderAblation, type AblationReport } from './src/ablation/page.ts';
import { RULES } from './src/ablation/rules.ts';
import { SCENARIOS } from './src/ablation/scenarios.ts';
import { linesOf, readSource, withRules } from './src/ablation/sources.ts';
import { REPORTS } from './src/reports.ts';

const json = await readFile(join(REPORTS, 'ablation.json'), 'utf8');
const report = JSON.parse(json) as AblationReport;

describe('the committed table of rules', () => {
  it('is rendered from its figures', async () => {
    expect(await readFile(join(REPORTS, 'ablation.md'), 'utf8')).toBe(renderAblation(report));
    expect(json).toBe(formatAblation(report));
  });

  it('has all rules and scenarios, and no others', () => {
    expect(Object.keys(report.without)).toEqual(RULES.map(({ name }) => name));
    expect(Object.keys(report.all)).toEqual(SCENARIOS.map(({ name }) => name));
  });
});

describe('a rule of the table', () => {
  it.each(RULES)('can be taken out of the sources: $name', (rule) => {
    expect(linesOf(rule)).toBeGreaterThan(0);
    for (const { file, to } of rule.changes) {
      const changed = withRules(file, readSource(file));
      expect(changed).toContain(`takenOut[${JSON.stringify(rule.name)}]`);
      expect(changed).toContain(to);
    }
  });

  it('can matter in a scenario', () => {
    const idle = RULES.filter(({ matters = '' }) => !SCENARIOS.some(({ name }) => name.startsWith(matters)));
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});

const FINE: Outcome = {
  events: 1000,
  lost: 0,
  off: 0,
  attempts: 2,
  maxAttempts: 4,
  clear: 1,
  goodput: 0.9,
  inVain: 0,
  again: 0,
  p99: 50,
  handling: 0.4,
  smallLost: 0,
  smallP99: 10,
};

function worst(after: Partial<Outcome>): string {
  const means: readonly Means[] = [{ one: FINE }, { one: { ...FINE, ...after } }];
  const [change] = changesOf(means[0] as Means, means[1] as Means);
  return change === undefined ? 'nothing' : `${change.title}, ${change.weight >= 1 ? 'felt' : 'not felt'}`;
}

describe('a change', () => {
  it('is felt if an event is lost or an endpoint is disabled', () => {
    expect(worst({ lost: 0.5 })).toBe('lost, felt');
    expect(worst({ off: 0.5 })).toBe('disabled, felt');
  });

  it('is felt from 5 % more attempts or time, 5 points less goodput, and twice the p99 of small tenants on', () => {
    expect(worst({ attempts: 2.11 })).toBe('attempts, felt');
    expect(worst({ attempts: 2.09 })).toBe('attempts, not felt');
    expect(worst({ clear: 1.06 })).toBe('clear ÷ ideal, felt');
    expect(worst({ goodput: 0.84 })).toBe('goodput, felt');
    expect(worst({ inVain: 60 })).toBe('in vain or again, felt');
    expect(worst({ smallP99: 21 })).toBe('p99 of small tenants (s), felt');
    expect(worst({ smallP99: 19 })).toBe('p99 of small tenants (s), not felt');
    expect(worst({})).toBe('nothing');
  });

  it('is felt if a scenario does not settle any more', () => {
    const [change] = changesOf({ one: FINE }, { one: null });
    expect(change).toMatchObject({ title: 'settles', weight: Infinity });
  });
});

describe('a comparison with an earlier version', () => {
  it('names the goals that are missed, by the seeds that both have', () => {
    const before = { fine: [FINE], worse: [FINE, { ...FINE, attempts: 9 }], gone: [FINE] };
    const after = { fine: [FINE], worse: [{ ...FINE, attempts: 2.1, smallP99: 12 }], new: [FINE] };
    const lines = compare(before, after).split('\n');
    expect(lines).toContain('Missed in 1 of 2 scenarios.');
    expect(lines.find((line) => line.startsWith('| worse'))).toContain(
      '2.000 → 2.100 | 1.000 | 0.900 | 0.0, 10 → 12 | **attempts**, **p99 of small tenants** |',
    );
  });
});
