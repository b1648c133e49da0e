// Measures what importing the Express adapter costs a process that starts, beside express-rate-limit:
// `node tooling/import-cost.js [rounds]`, after `npm run build`. One process for each import, in turn, and of many
// rounds the least and the median, each minus those of a process that imports nothing. CPU time bends less than wall
// time on a busy machine.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neededBy, root } from './packages.js';

const PEER = 'express-rate-limit';
const rounds = Number(process.argv[2] ?? 60);
const folder = mkdtempSync(join(tmpdir(), 'webhook-backpressure-import-cost-'));
try {
  install();
  report();
} finally {
  rmSync(folder, { recursive: true });
}

/** Installs what a user would: links into the repository would be resolved at each import. */
function install() {
  const workspaces = neededBy('express').flatMap(({ manifest }) => ['--workspace', manifest.name]);
  const output = npm(root, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...workspaces);
  /** @type {unknown} */
  const packed = JSON.parse(output);
  const dependencies = Object.fromEntries(
    /** @type {{ name: string, filename: string }[]} */ (packed).map(({ name, filename }) => [
      name,
      `file:../${filename}`,
    ]),
  );
  mkdirSync(join(folder, 'app'));
  writeFileSync(
    join(folder, 'app/package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { ...dependencies, [PEER]: '^8', express: '^5' },
    }),
  );
  npm(join(folder, 'app'), 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
}

/**
 * @param {string} cwd
 * @param {string[]} args
 */
function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function report() {
  const programs = {
    nothing: '',
    'webhook-backpressure': "import '@webhook-backpressure/express';",
    [PEER]: `import '${PEER}';`,
    'webhook-backpressure, required': "require('@webhook-backpressure/express');",
    [`${PEER}, required`]: `require('${PEER}');`,
  };
  const names = Object.keys(programs);
  /** @type {Map<string, { cpu: number[], wall: number[] }>} */
  const times = new Map();
  for (const [name, program] of Object.entries(programs)) {
    writeFileSync(
      join(folder, 'app', fileOf(name)),
      `${program}\nconsole.log(JSON.stringify(process.cpuUsage()));`,
    );
    times.set(name, { cpu: [], wall: [] });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const startedAt = performance.now();
      const output = execFileSync(process.execPath, [fileOf(name)], {
        cwd: join(folder, 'app'),
        encoding: 'utf8',
      });
      /** @type {unknown} */
      const usage = JSON.parse(output);
      const { user, system } = /** @type {NodeJS.CpuUsage} */ (usage);
      times.get(name)?.wall.push(performance.now() - startedAt);
      times.get(name)?.cpu.push((user + system) / 1000);
    }
  }
  console.log(
    `Node ${process.version}, ${String(rounds)} rounds, ms more than a process that imports nothing:`,
  );
  for (const name of names.slice(1)) {
    const of = (/** @type {'cpu' | 'wall'} */ time, /** @type {number} */ part) =>
      (quantile(times.get(name)?.[time], part) - quantile(times.get('nothing')?.[time], part)).toFixed(1);
    console.log(
      `${name.padEnd(32)} CPU least ${of('cpu', 0)}, median ${of('cpu', 0.5)}; wall least ${of('wall', 0)}, median ${of('wall', 0.5)}`,
    );
  }
}

/** @param {string} name */
function fileOf(name) {
  return `${name.replaceAll(/[^\w-]/g, '-')}.${name.endsWith('required') ? 'cjs' : 'mjs'}`;
}

/**
 * @param {number[] | undefined} times
 * @param {number} part from 0 to 1
 */
function quantile(times, part) {
  return times?.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? NaN;
}
