import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lostShare, ofSender } from '../simulation/src/lab-cells.ts';
import type { LabReport } from '../simulation/src/lab-figures.ts';
import { LAB_FILE } from '../simulation/src/lab-files.ts';
import { aloneName, type Receiver, type Shape } from '../simulation/src/lab-runs.ts';
import { LAB_SENDERS, type LabSender } from '../simulation/src/lab-senders.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

const senders = page('docs/senders.md');
const section = sectionOf(senders, 'What each sender loses in a burst');
const text = section.map(({ raw }) => raw).join('');
const report = JSON.parse(readFileSync(LAB_FILE, 'utf8')) as LabReport;

const SHAPES: readonly (readonly [column: string, shape: Shape])[] = [
  ['One minute at five times the drain rate', 'S1'],
  ['Ten minutes of it', 'S10'],
  ['50,000 in a second', 'burst'],
];

/** The name of a sender in the tables, by its key. */
const TITLES = new Map(
  rowsOf(senders.tokens, 'Sender')
    .filter((row) => row['Key'] !== undefined)
    .map((row) => [codeIn(row['Key'])[0], row['Sender'] ?? '']),
);

function lossOf(sender: LabSender, shape: Shape, receiver: Receiver): string {
  const figures = ofSender(report[aloneName(sender, shape, receiver)]);
  if (figures === undefined) throw new Error(`${sender.name} has no run.`);
  const share = lostShare(figures);
  const percent = Math.round(share * 100);
  const lost = share > 0 && percent === 0 ? '< 1 %' : `${String(percent)} %`;
  return figures.off > 0 ? `${lost}, disabled` : lost;
}

describe('docs/senders.md, about bursts', () => {
  it('lists every sender that loses events with the middleware, with the share', () => {
    const expected = LAB_SENDERS.filter(({ name }) => !name.includes(',')).flatMap((sender) => {
      const losses = SHAPES.map(([column, shape]) => [column, lossOf(sender, shape, 'held')] as const);
      if (losses.every(([, loss]) => loss === '0 %')) return [];
      return [{ Sender: TITLES.get(sender.name), ...Object.fromEntries(losses) }];
    });
    expect(rowsOf(section, 'Sender')).toEqual(expected);
  });

  it('says that the inbox loses nothing in the shorter bursts', () => {
    expect(text).toContain('With the inbox, no sender loses an event in the first and the last case.');
    const losses = LAB_SENDERS.flatMap((sender) => [
      lossOf(sender, 'S1', 'inbox'),
      lossOf(sender, 'burst', 'inbox'),
    ]);
    expect(new Set(losses)).toEqual(new Set(['0 %']));
  });
});
