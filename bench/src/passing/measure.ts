import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { progress } from '../command-line.ts';
import { KINDS, type Kind, type Passing, type Passes } from './plan.ts';

const ROUNDS = 5;
const CHILD = fileURLToPath(new URL('child.js', import.meta.url));

/** In each round a process for each kind, one after the other: a busy machine makes some rounds slower, seldom all. */
export function measurePassing({ name, framework, node }: Passes): Passing {
  progress(name);
  const times: Record<Kind, number[]> = { without: [], empty: [], ours: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of KINDS) times[kind].push(take(node, framework, kind));
  }
  const least = (kind: Kind): number => Math.min(...times[kind]);
  const [base, ours] = [least('without'), least('ours')];
  const ratios = times.ours.map((time, round) => time / (times.without[round] ?? NaN));
  return {
    ours: rounded(ours),
    base: rounded(base),
    added: rounded(ours - base),
    empty: rounded(least('empty') - base),
    ratio: rounded(ours / base),
    min: rounded(Math.min(...ratios)),
    max: rounded(Math.max(...ratios)),
    unit: 'µs',
  };
}

function take(version: number, framework: string, kind: Kind): number {
  const { status, stdout } = spawnSync(nodeOf(version), [CHILD, framework, kind], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (status !== 0) throw new Error(`${framework}, ${kind}: the process ended with ${String(status)}.`);
  return Number(stdout);
}

/** The version of Node that a process runs, as the bench's lockfile installs it. */
export function versionOf(version: number): string {
  return spawnSync(nodeOf(version), ['--version'], { encoding: 'utf8' }).stdout.trim();
}

function nodeOf(version: number): string {
  return fileURLToPath(new URL(`../../node_modules/node${String(version)}/bin/node`, import.meta.url));
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
