import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { pinning } from './pinned.ts';

/** Where and with what something was measured. */
export interface Machine {
  readonly date: string;
  readonly processor: string;
  readonly memory: string;
  readonly system: string;
  readonly node: string;
  readonly pinning: string;
  /** Processes that wanted a core, on average over the minute before the run: above 0.5, others were at work. */
  readonly loadBefore: number;
  readonly versions: Readonly<Record<string, string>>;
}

const PACKAGES = [
  'express',
  'koa',
  'hono',
  '@hono/node-server',
  'fastify',
  'p-limit',
  'express-queue',
  'express-rate-limit',
  'overload-protection',
  'koa-ratelimit',
  'hono-rate-limiter',
  '@fastify/under-pressure',
  'plainjob',
  'liteque',
  'libsql',
  'autocannon',
  'pg',
  'bullmq',
  'pg-boss',
  'graphile-worker',
];

export function describeMachine(): Machine {
  const [first] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: `${first?.model.trim() ?? 'unknown'}, ${String(cpus().length)} cores`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    system: `${type()} ${release().split('.').slice(0, 2).join('.')}`,
    node: process.version,
    pinning,
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    versions: Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
  };
}

/** The lines of a report that say where it was made. */
export function machineLines({ versions, ...machine }: Machine): string[] {
  return [
    `- ${machine.date}, ${machine.processor}, ${machine.memory}, ${machine.system}, Node ${machine.node}`,
    `- Processes: ${machine.pinning}; load of the machine in the minute before: ${String(machine.loadBefore)}`,
    `- ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
  ];
}

/** Read from its file, since not every package exports it. */
function versionOf(name: string): string {
  const { resolve } = createRequire(import.meta.url);
  for (const folder of resolve.paths(name) ?? []) {
    try {
      const text = readFileSync(`${folder}/${name}/package.json`, 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Not in this folder.
    }
  }
  return 'unknown';
}
