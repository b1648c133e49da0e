import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { createIntake } from '@webhook-backpressure/core';
import {
  alarmSettings,
  INBOX_ALARM_DEFAULTS,
  OUTBOX_ALARM_DEFAULTS,
} from '../../packages/observe/src/alarms/alarm-options.ts';
import { ALARM_RULES, ENDPOINT_ALARM_RULES } from '../../packages/observe/src/alarms/alarm-rules.ts';
import { helpOf } from '../../packages/observe/src/alarms/alarm.ts';
import { resolvePressureOptions } from '../../packages/node/src/pressure.ts';
import { anchorsOf, codeIn, isHeading, page, rowsOf, sectionOf, type Page } from './pages.ts';
import { entryFile, literalsOf, programOf, typeIn } from './typescript.ts';

const alarmsPage = page('docs/alarms.md');
const eventsPage = page('docs/events.md');
const snapshot = createIntake().snapshot();
const alarmRules = [...ALARM_RULES, ...ENDPOINT_ALARM_RULES];
let program: ts.Program;

beforeAll(() => {
  program = programOf([entryFile('core'), entryFile('observe')]);
}, 120_000);

/** The names in the first column of a table, and the cells of its row. */
function table(from: Page, heading: string, first: string): Map<string, Record<string, string>> {
  const rows = rowsOf(sectionOf(from, heading), first);
  return new Map(rows.flatMap((row) => codeIn(row[first]).map((name) => [name, row] as const)));
}

describe('docs/operations.md, docs/alarms.md and docs/events.md', () => {
  it('explains every field of a snapshot', () => {
    expect([...table(eventsPage, 'Snapshot', 'Field').keys()].sort()).toEqual(Object.keys(snapshot).sort());
  });

  it('names every state', () => {
    const states = literalsOf(typeIn(program, entryFile('core'), 'IntakeState'));
    expect(states).toContain('accepting');
    expect(codeIn(table(eventsPage, 'Snapshot', 'Field').get('state')?.['Meaning']).sort()).toEqual(
      states.sort(),
    );
  });

  it('explains every total, and every cause of a withdrawal', () => {
    const totals = table(eventsPage, 'Snapshot', 'Total');
    expect([...totals.keys()].sort()).toEqual(Object.keys(snapshot.totals).sort());
    expect(codeIn(totals.get('withdrawn')?.['Counts'])).toEqual(
      expect.arrayContaining(Object.keys(snapshot.totals.withdrawn)),
    );
  });

  it('has a heading for each alarm, with what to do, where the alarm links to', () => {
    const codes = literalsOf(typeIn(program, entryFile('core'), 'AlarmCode'));
    expect(codes).toHaveLength(12);
    const alarms = sectionOf(alarmsPage, 'Alarms').filter(isHeading);
    expect(alarms.map(({ text }) => text).filter((text) => text.startsWith('WBP_'))).toEqual(
      alarmRules.map(({ code }) => code),
    );
    expect(alarmRules.map(({ code }) => code).sort()).toEqual(codes.sort());
    for (const { code } of alarmRules) {
      expect(anchorsOf(alarmsPage)).toContain(new URL(helpOf(code)).hash.slice(1));
      expect(new URL(helpOf(code)).pathname).toMatch(/\/docs\/alarms\.md$/);
      const whatToDo = sectionOf(alarmsPage, code).filter(({ type }) => type === 'list');
      expect(whatToDo, code).toHaveLength(1);
    }
  });

  it.each([
    ['Option', INBOX_ALARM_DEFAULTS],
    ['Option of a sender', OUTBOX_ALARM_DEFAULTS],
  ])('says the default of every threshold of an alarm, and which alarm it raises: %s', (first, defaults) => {
    const options = table(alarmsPage, 'Alarms', first);
    expect([...options].map(([name, row]) => [name, row['Default']])).toEqual(
      Object.entries(defaults).map(([name, value]) => [name, `\`${String(value)}\``]),
    );
    for (const { code, option } of alarmRules) {
      if (option in defaults) expect(codeIn(options.get(option)?.['Raises']), option).toContain(code);
    }
  });

  it.each(
    ['Option', 'Option of a sender'].flatMap((first) =>
      [...table(alarmsPage, 'Alarms', first)].flatMap(([name, row]) => {
        const [, from = '', to = ''] = /([\d,]+) to ([\d,]+)/.exec(row['Unit, range'] ?? '') ?? [];
        return from === '' ? [] : [{ first, name, from: numberIn(from), to: numberIn(to) }];
      }),
    ),
  )('gives the range that is accepted for $name: $from to $to ($first)', ({ first, name, from, to }) => {
    const defaults = first === 'Option' ? INBOX_ALARM_DEFAULTS : OUTBOX_ALARM_DEFAULTS;
    const check = (value: number) => () => alarmSettings<object>(defaults, false, { [name]: value });
    expect(check(from)).not.toThrow();
    expect(check(to)).not.toThrow();
    expect(check(from - 0.5)).toThrow();
    expect(check(to + 1)).toThrow();
  });

  it('explains every figure of a window', () => {
    const checker = program.getTypeChecker();
    const figures = typeIn(program, entryFile('observe'), 'WindowFigures')
      .getProperties()
      .map((figure) => {
        const isPercentiles = checker.getTypeOfSymbol(figure).getProperty('p50') !== undefined;
        return isPercentiles ? `${figure.name}.p50` : figure.name;
      });
    const said = [...table(eventsPage, 'Windows', 'Figure').keys()].filter((name) => name !== '.p99');
    expect(said.sort()).toEqual(figures.sort());
  });

  it('says the default of every option of processPressure', () => {
    const defaults = Object.entries(resolvePressureOptions({})).map(([name, value]) => [
      name,
      `\`${String(value)}\``,
    ]);
    const said = [...table(page('docs/operations.md'), 'Process overload', 'Option')].map(([name, row]) => [
      name,
      row['Default'],
    ]);
    expect(said).toEqual(defaults);
  });

  it('lists every event with its fields', () => {
    const checker = program.getTypeChecker();
    const union = typeIn(program, entryFile('core'), 'IntakeEvent');
    const events = (union as ts.UnionType).types.flatMap((event) => {
      const fields = event.getProperties().map(({ name }) => name);
      const type = event.getProperty('type');
      const names = type === undefined ? [] : literalsOf(checker.getTypeOfSymbol(type));
      const carried = fields.filter((name) => name !== 'type' && name !== 'at').sort();
      return names.map((name) => [name, carried]);
    });
    const listed = [...table(eventsPage, 'Events', '`type`')].map(([name, row]) => [
      name,
      codeIn(row['Also carries']).sort(),
    ]);
    expect(events.length).toBeGreaterThan(10);
    expect(listed.sort()).toEqual(events.sort());
  });
});

function numberIn(text: string): number {
  return Number(text.replaceAll(',', ''));
}
