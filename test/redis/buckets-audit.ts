import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BucketLimit, BucketsEvent } from '@webhook-backpressure/fleet';
import { limitsOfAudit } from './children/limits-of-audit.js';

const RECORD_BYTES = 16;
const SECOND_US = 1_000_000;

/** The findings of an audit of shared buckets. */
export interface BucketsAudit {
  readonly starts: number;
  readonly kills: number;
  readonly seconds: number;
  /** How often a process found Redis too slow, so that it used its part of the rates: on a machine that is overloaded. */
  readonly lost: number;
  /** Endpoints that had more starts in some second than their limit and burst allow, with both figures. */
  readonly exceeded: readonly string[];
  /** The starts of the busiest second ÷ what is allowed, at its highest. */
  readonly highest: number;
  /** Starts ÷ those that were possible, of all endpoints, and of those that save 5 s, 1 s and 0.25 s. */
  readonly used: number;
  readonly usedBySavings: readonly number[];
}

export interface AuditOptions {
  readonly url: string;
  readonly prefix: string;
  readonly endpoints: number;
  readonly processes: number;
  readonly kills: number;
  /** Takes between two kills, each of one or more tokens. */
  readonly recordsPerKill: number;
}

/** Lets processes use shared buckets as fast as they can, kills one after the other, and checks all their starts. */
export async function auditBuckets(options: AuditOptions): Promise<BucketsAudit> {
  const { endpoints, processes, kills, recordsPerKill } = options;
  const folder = mkdtempSync(join(tmpdir(), 'wbp-audit-'));
  const files: string[] = [];
  const running: ChildProcess[] = [];
  let lost = 0;
  const start = async (): Promise<void> => {
    const file = join(folder, String(files.length));
    files.push(file);
    const child = fork(
      join(import.meta.dirname, 'children/bucket-user.js'),
      [options.url, options.prefix, file, String(endpoints)],
      { execArgv: [] },
    );
    running.push(child);
    child.on('message', (event) => {
      if ((event as Partial<BucketsEvent>).type === 'lost') lost += 1;
    });
    await once(child, 'message');
  };
  try {
    await Promise.all(Array.from({ length: processes }, start));
    for (let kill = 0; kill < kills; kill += 1) {
      await untilWritten(files, (kill + 1) * recordsPerKill);
      await end(running.splice((kill * 7) % running.length, 1));
      await start();
    }
    await untilWritten(files, (kills + 1) * recordsPerKill);
    await end(running.splice(0));
    return {
      ...judged(files.map(startsIn).flat(), limitsOfAudit(endpoints)),
      kills,
      lost,
    };
  } finally {
    await end(running);
    rmSync(folder, { recursive: true });
  }
}

interface Starts {
  readonly endpoint: number;
  readonly count: number;
  readonly atUs: number;
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }),
  );
}

/** Resolves when the processes have written so much. Another process writes a file without an event here. */
async function untilWritten(files: readonly string[], records: number): Promise<void> {
  const written = (): number => files.reduce((sum, file) => sum + statSync(file).size / RECORD_BYTES, 0);
  while (written() < records) await new Promise((resolve) => setTimeout(resolve, 20));
}

function startsIn(file: string): Starts[] {
  const bytes = readFileSync(file);
  return Array.from({ length: Math.floor(bytes.length / RECORD_BYTES) }, (_, number) => {
    const at = number * RECORD_BYTES;
    return {
      endpoint: bytes.readUInt32LE(at),
      count: bytes.readUInt32LE(at + 4),
      atUs: bytes.readDoubleLE(at + 8),
    };
  });
}

function judged(
  all: readonly Starts[],
  limits: readonly BucketLimit[],
): Omit<BucketsAudit, 'kills' | 'lost'> {
  const firstUs = all.reduce((least, { atUs }) => Math.min(least, atUs), Infinity);
  const lastUs = all.reduce((most, { atUs }) => Math.max(most, atUs), 0);
  const seconds = (lastUs - firstUs) / SECOND_US;
  const byEndpoint = limits.map((): Starts[] => []);
  for (const one of all) byEndpoint[one.endpoint]?.push(one);
  const exceeded: string[] = [];
  let highest = 0;
  const done = [0, 0, 0];
  const possible = [0, 0, 0];
  for (const [endpoint, limit] of limits.entries()) {
    const starts = (byEndpoint[endpoint] ?? []).sort((a, b) => a.atUs - b.atUs);
    const perSecond = (limit.amount * 1000) / limit.periodMs;
    const most = mostInASecond(starts);
    const allowed = limit.burst + perSecond;
    highest = Math.max(highest, most / allowed);
    if (most > allowed) exceeded.push(`${String(endpoint)}: ${String(most)} of ${String(allowed)}`);
    const kind = endpoint % 3;
    done[kind] = (done[kind] ?? 0) + starts.reduce((sum, { count }) => sum + count, 0);
    possible[kind] = (possible[kind] ?? 0) + limit.burst + Math.floor(perSecond * seconds);
  }
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    starts: sum(done),
    seconds,
    exceeded,
    highest,
    used: sum(done) / sum(possible),
    usedBySavings: done.map((count, kind) => count / (possible[kind] ?? 1)),
  };
}

/** The most starts in any second: one that begins with a start. */
function mostInASecond(starts: readonly Starts[]): number {
  let most = 0;
  let inside = 0;
  let from = 0;
  for (const { count, atUs } of starts) {
    inside += count;
    while ((starts[from] as Starts).atUs + SECOND_US <= atUs) {
      inside -= (starts[from] as Starts).count;
      from += 1;
    }
    most = Math.max(most, inside);
  }
  return most;
}
