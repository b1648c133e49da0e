import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtInSenders } from '@webhook-backpressure/senders';
import { root } from '../../tooling/packages.js';
import { page } from './pages.ts';

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

it('has the figures of the benchmark', () => {
  const { source } = comparison;
  const figure = (value: number): string => value.toLocaleString('en-US');
  expect(source).toContain(`p-limit by hand processed ${figure(row('p-limit').handled)} requests`);
  expect(row('under-pressure').refused).toBe(0);
  expect(source).toContain(`refused no request, and ${figure(row('under-pressure').timedOut)} timed out`);
  const useful = Math.round(100 * row('p-limit').goodput);
  expect(source).toContain(`${String(useful)} % of the work`);
  const ours = row('webhook-backpressure-ignored');
  expect([ours.lost, Math.round(100 * ours.goodput)]).toEqual([0, 100]);
  expect(source).toContain(`it needs ${ours.attemptsPerDelivery.toFixed(2)} attempts per delivery`);
  expect(source).toContain(`the right length, ${row('express-queue').attemptsPerDelivery.toFixed(2)}.`);
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
