import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../native/slow-fsync.c', import.meta.url));

let library: string | undefined;

/**
 * The environment of a process for which the disk takes so much longer. Where there is no C compiler, nothing can be
 * said about slow disks, and this throws.
 */
export function slowDisk(fsyncMs: number): Readonly<Record<string, string>> {
  if (fsyncMs === 0) return {};
  library ??= compile();
  return { LD_PRELOAD: library, SLOW_FSYNC_MS: String(fsyncMs) };
}

function compile(): string {
  const built = join(mkdtempSync(join(tmpdir(), 'webhook-backpressure-slow-disk-')), 'slow-fsync.so');
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', built, SOURCE, '-ldl'], { stdio: 'ignore' });
  return built;
}
