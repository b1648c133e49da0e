import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cell, duration, percent, worstOf } from './src/lab-cells.ts';
import { figuresOf, type LabFigures, type LabReport } from './src/lab-figures.ts';
import { formatLab, LAB_FILE, LAB_PAGE } from './src/lab-files.ts';
import { renderLab } from './src/lab-page.ts';
import { labGoals } from './src/lab-reach.ts';
import { aloneName, LAB_RUNS, mixtureName, MIXTURES } from './src/lab-runs.ts';
import { LAB_SENDERS, labSender } from './src/lab-senders.ts';

const json = await readFile(LAB_FILE, 'utf8');
const report = JSON.parse(json) as LabReport;

describe('the committed report of the sender lab', () => {
  it('is rendered from its figures', async () => {
    expect(await readFile(LAB_PAGE, 'utf8')).toBe(renderLab(report));
    expect(json).toBe(formatLab(report));
  });

  it.each(['held', 'constant'] as const)('matches a run: GitHub for a minute, %s', async (receiver) => {
    const name = aloneName(labSender('github'), 'S1', receiver);
    const run = LAB_RUNS.find((one) => one.name === name);
    if (run === undefined) throw new Error(`There is no run ${name}.`);
    expect(await figuresOf(run)).toEqual(report[name]);
  });

  it('has no runs that are no longer made', () => {
    const names = new Set(LAB_RUNS.map(({ name }) => name));
    expect(Object.keys(report).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('the senders of the lab', () => {
  it('share the runs of a sender that behaves alike', () => {
    expect(new Set(LAB_RUNS.map(({ name }) => name)).size).toBe(LAB_RUNS.length);
    const [github, gitea, slack] = ['github', 'gitea', 'slack'].map(labSender) as [never, never, never];
    expect(aloneName(github, 'S10', 'held')).not.toBe(aloneName(gitea, 'S10', 'held'));
    expect(aloneName(github, 'burst', 'inbox')).toBe(aloneName(slack, 'burst', 'inbox'));
  });
});

const fine: LabFigures = {
  events: 1000,
  lost: 0,
  attempts: 1.5,
  p50: 5,
  p99: 300,
  off: 0,
  inVain: 0,
  again: 0,
};

describe('a cell', () => {
  it('shows lost events, attempts and delays, and whether the endpoint was disabled', () => {
    expect(cell(fine)).toBe('0 %, 1.50, 5 s / 5 min');
    expect(cell({ ...fine, lost: 123, off: 2 })).toBe('12.3 %, 1.50, 5 s / 5 min, **off**');
    expect(cell({ ...fine, lost: 500, attempts: null })).toBe('50.0 %');
    expect(cell(undefined)).toBe('–');
  });

  it('never rounds a loss to 0 %', () => {
    expect([0, 0.000_01, 0.001, 1].map(percent)).toEqual(['0 %', '< 0.1 %', '0.1 %', '100.0 %']);
  });

  it('shows times in the largest unit of which there are two', () => {
    const shown = ['–', '0.1 s', '119 s', '2 min', '2 h', '2 d'];
    expect([null, 0.1, 119, 120, 7200, 172_800].map(duration)).toEqual(shown);
  });

  it('has the worst figures of several senders', () => {
    const all = [fine, { ...fine, lost: 3, attempts: 1, p50: 9 }];
    expect(worstOf(all)).toEqual({ ...fine, lost: 3, attempts: 1.5, p50: 9 });
    expect(worstOf([])).toBeUndefined();
  });
});

describe('the figures to reach', () => {
  const all: LabReport = Object.fromEntries([
    ...LAB_SENDERS.flatMap((sender) => [
      [aloneName(sender, 'S10', 'held'), { one: { ...fine, lost: 810 } }],
      [aloneName(sender, 'S10', 'bound'), { all: { ...fine, lost: 800, attempts: null } }],
      [aloneName(sender, 'burst', 'inbox'), { one: fine }],
    ]),
    ...MIXTURES.map((mixture) => {
      const figures = Object.keys(mixture.small).map((name) => [name, fine] as const);
      return [mixtureName(mixture, 'held'), Object.fromEntries(figures)];
    }),
  ]) as LabReport;

  it('are reached within their bounds', () => {
    const [mixtures, nearBound, inbox] = labGoals(all);
    expect([mixtures, nearBound, inbox].map((goal) => goal?.missed)).toEqual([[], [], []]);
    expect(nearBound?.reached).toBe('1.0 points');
  });

  it('count the senders without runs', () => {
    const open = labGoals({}).map((goal) => goal.open);
    expect(open.every((count) => count > 0)).toBe(true);
    expect(labGoals(all).map((goal) => goal.open)).toEqual([0, 0, LAB_SENDERS.length, 0]);
  });

  it('are not reached without runs', () => {
    expect(renderLab({})).toContain('So far, 0 of ');
    expect(renderLab({})).not.toContain('| reached |');
    expect(renderLab(all)).toContain('| reached |');
  });

  it('name each miss', () => {
    const github = labSender('github');
    const [beside] = MIXTURES.filter(({ small }) => 'github' in small);
    if (beside === undefined) throw new Error('There is no mixture with GitHub.');
    const worse: LabReport = {
      ...all,
      [aloneName(github, 'S10', 'held')]: { github: { ...fine, lost: 821 } },
      [aloneName(github, 'burst', 'inbox')]: { github: { ...fine, off: 1 } },
      [mixtureName(beside, 'held')]: { github: { ...fine, lost: 1, off: 1 } },
    };
    const missed = labGoals(worse).map((goal) => goal.missed);
    expect(missed[0]).toEqual(['github at 0.2× beside hookdeck: 0.1 %, off']);
    expect(missed[1]).toContain('github: 2.1 points');
    expect(missed[2]).toContain('github, burst: 0 %, off');
    expect(missed[3]?.every((one) => one.includes('lost 81.0 %'))).toBe(true);
  });
});
