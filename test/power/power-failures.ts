import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { idHash } from '../../packages/sqlite/src/tables/contents.ts';
import { chanceOf } from '../crash/chance.ts';
import { Scratch } from '../sqlite/scratch.ts';
import { DiskImage } from './disk-image.ts';
import { readDiskLog } from './disk-log.ts';

const CHILDREN = join(import.meta.dirname, 'children');

/** The compiled shim, in a temporary folder. */
export class Shim {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'wbp-shim-'));
  readonly file: string = join(this.#folder, 'disk-shim.so');

  constructor() {
    const source = join(CHILDREN, 'disk-shim.c');
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-w', '-o', this.file, source, '-ldl']);
  }

  /** Why it cannot be compiled here, if so. */
  static get obstacle(): string | undefined {
    if (process.platform !== 'linux') return 'syncs are watched by LD_PRELOAD, which is Linux only';
    try {
      execFileSync('cc', ['--version'], { stdio: 'ignore' });
      return undefined;
    } catch {
      return 'there is no C compiler (cc) to compile disk-shim.c with';
    }
  }

  environment(path: string, log: string, { syncMs = 0, eioAt = 0 } = {}): NodeJS.ProcessEnv {
    return {
      ...process.env,
      LD_PRELOAD: this.file,
      DISK_FILE: path,
      DISK_LOG: log,
      DISK_SYNC_MS: String(syncMs),
      DISK_EIO_AT: String(eioAt),
    };
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** One run of one or more processes on one file, and its power failures. */
export interface Life {
  readonly seed: number;
  readonly processes: number;
  /** How many times all processes die, also at the first error, and start again, while the kernel keeps its cache. */
  readonly restarts: number;
  readonly deliveries: number;
  readonly cuts: number;
  /** Which sync fails, from 1; 0 for none. */
  readonly eioAt: number;
}

/** The losses found after power failures. */
export interface Losses {
  cuts: number;
  /** The most deliveries that were acknowledged before one failure. */
  acknowledged: number;
  /** Failures after which an acknowledged delivery was missing. */
  cutsWithLoss: number;
  /** The most deliveries that were missing after one. */
  mostLost: number;
  /** Errors of SQLite's integrity check, or in the totals. */
  damages: string[];
}

export async function powerFailures(shim: Shim, lives: readonly Life[]): Promise<Losses> {
  const losses: Losses = { cuts: 0, acknowledged: 0, cutsWithLoss: 0, mostLost: 0, damages: [] };
  for (const life of lives) {
    const scratch = new Scratch();
    try {
      const log = scratch.file('log');
      await live(shim, scratch.file('inbox.db'), log, life);
      replay(log, scratch, life, losses);
    } finally {
      scratch.dispose();
    }
  }
  return losses;
}

async function live(shim: Shim, path: string, log: string, life: Life): Promise<void> {
  const { processes, restarts, deliveries, seed, eioAt } = life;
  const env = shim.environment(path, log, { eioAt });
  const share = String(Math.ceil(deliveries / processes / (restarts + 1)));
  const write = async (name: string, ownSeed: number): Promise<void> => {
    const words = [join(CHILDREN, 'writer.js'), path, name, share, String(ownSeed)];
    if (restarts > 0) words.push('dies of errors');
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`A writer ended with ${String(code)}.`);
  };
  for (let start = 0; start <= restarts; start += 1) {
    const names = Array.from({ length: processes }, (_, at) => `p${String(start)}-${String(at)}`);
    await Promise.all(names.map((name, at) => write(name, seed * 64 + start * 8 + at)));
  }
}

function replay(log: string, scratch: Scratch, { seed, cuts }: Life, losses: Losses): void {
  const records = readDiskLog(log);
  const chance = chanceOf(seed);
  const moments = Array.from({ length: cuts }, () => Math.floor(chance() * records.length)).sort(
    (one, other) => one - other,
  );
  const disk = new DiskImage(chance);
  let at = 0;
  for (const moment of moments) {
    for (; at < moment; at += 1) disk.read(records[at] as (typeof records)[number]);
    const { lost, damage } = lostAfter(disk, scratch.file('found.db'));
    losses.cuts += 1;
    losses.acknowledged = Math.max(losses.acknowledged, disk.acknowledged.size);
    losses.mostLost = Math.max(losses.mostLost, lost);
    if (lost > 0) losses.cutsWithLoss += 1;
    if (damage !== undefined) losses.damages.push(damage);
  }
}

function lostAfter(disk: DiskImage, path: string): { lost: number; damage: string | undefined } {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  const { database, wal } = disk.afterPowerFailure();
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, wal);
  const found = new Database(path);
  try {
    const [{ integrity_check: words }] = found.pragma('integrity_check') as [{ integrity_check: string }];
    const tables = found.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'totals'").all();
    if (tables.length === 0)
      return { lost: disk.acknowledged.size, damage: words === 'ok' ? undefined : words };
    return { lost: missing(found, disk.acknowledged), damage: words === 'ok' ? amiss(found) : words };
  } finally {
    found.close();
  }
}

function missing(found: Database.Database, acknowledged: ReadonlySet<string>): number {
  const column = (sql: string): Set<unknown> => new Set<unknown>(found.prepare<[]>(sql).raw().all().flat());
  const kept = column("SELECT key || '/' || id FROM contents");
  const remembered = column('SELECT hex(hash) FROM remembered');
  let lost = 0;
  for (const line of acknowledged) {
    const [what, name = ''] = line.split(/ (.*)/s);
    const [key = '', id = ''] = name.split('/');
    const isRemembered = remembered.has(Buffer.from(idHash({ key, id })).toString('hex').toUpperCase());
    if (!isRemembered && !(what === 'stored' && kept.has(name))) lost += 1;
  }
  return lost;
}

function amiss(found: Database.Database): string | undefined {
  const sql = `SELECT depth = (SELECT count(*) FROM queue) AND in_flight = (SELECT count(*) FROM queue WHERE state = 2)
    AND remembered = (SELECT count(*) FROM remembered) FROM totals`;
  const [row] = found.prepare<[]>(sql).raw().all() as [number][];
  return row?.[0] === 1 ? undefined : 'the totals are wrong';
}
