import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtInSenders } from '@webhook-backpressure/senders';
import { root } from '../../tooling/packages.js';
import { page, rowsOf, sectionOf } from './pages.ts';

interface Row {
  readonly name: string;
  readonly lost: number;
  readonly attemptsPerDelivery: number;
  readonly goodput: number;
  readonly handled: number;
  readonly refused: number;
  readonly timedOut: number;
}

const { rows, machine } = JSON.parse(readFileSync(join(root, 'bench/story/results.json'), 'utf8')) as {
  rows: readonly Row[];
  machine: { versions: Record<string, string> };
};
const comparison = page('docs/comparison.md');
const row = (name: string): Row => rows.find((one) => one.name === name) as Row;

const names: Record<string, string> = {
  'no protection': 'nothing',
  'p-limit by hand': 'p-limit',
  'under-pressure, in Fastify': 'under-pressure',
  'express-rate-limit': 'express-rate-limit',
  'express-queue': 'express-queue',
  'the middleware': 'webhook-backpressure',
};

it('has the figures of the benchmark', () => {
  const shown = rowsOf(sectionOf(comparison, 'In figures'), 'Receiver');
  expect(shown.map(({ Receiver }) => Receiver)).toEqual(Object.keys(names));
  for (const { Receiver = '', Lost, 'Attempts per delivery': attempts, 'Useful work': useful } of shown) {
    const { lost, attemptsPerDelivery, goodput } = row(names[Receiver] ?? '');
    const expected = [String(lost), attemptsPerDelivery.toFixed(2), `${String(Math.round(goodput * 100))} %`];
    expect([Receiver, Lost, attempts, useful]).toEqual([Receiver, ...expected]);
  }
  const { source } = comparison;
  const figure = (value: number): string => value.toLocaleString('en-US');
  expect(source).toContain(`p-limit by hand processed ${figure(row('p-limit').handled)} requests`);
  expect(row('under-pressure').refused).toBe(0);
  expect(source).toContain(`refused no request, and ${figure(row('under-pressure').timedOut)} timed out`);
  const ignoring = row('webhook-backpressure-ignored').attemptsPerDelivery.toFixed(2);
  expect(source).toContain(`the middleware needs ${ignoring} attempts per delivery`);
});

it('names the versions that were measured or are tested', () => {
  const dependencies = (name: string): string => {
    const path = join(root, 'node_modules', name, 'package.json');
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  };
  const versions = new Map(Object.entries(machine.versions));
  versions.set('BullMQ', dependencies('bullmq')).set('p-queue', dependencies('p-queue'));
  const tested = ['BullMQ', 'p-queue', 'express-rate-limit', 'p-limit', 'express-queue'];
  for (const name of [...tested, '@fastify/under-pressure', 'overload-protection']) {
    const [, shown = 'none'] = new RegExp(`${name} ([\\d.]+\\d)`).exec(comparison.source) ?? [];
    expect(`${name} ${versions.get(name) ?? ''}`).toContain(`${name} ${shown}`);
  }
});

it('says rightly that Hookdeck and Svix honor Retry-After, and that GitHub never retries', () => {
  const profile = (name: string): (typeof builtInSenders)[number] | undefined =>
    builtInSenders.find((one) => one.name === name);
  expect(profile('hookdeck')?.retryAfter).toMatchObject({ unit: 's' });
  expect(profile('svix')?.retryAfter).toMatchObject({ unit: 's' });
  expect(profile('github')?.retries).toBe('none');
});
