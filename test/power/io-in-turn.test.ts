import { execFile } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Scratch } from '../sqlite/scratch.ts';
import { Shim } from './power-failures.ts';

const run = promisify(execFile);
const { obstacle } = Shim;
/** `npm run test:power` fails each operation, and the other tests every seventh. */
const STRIDE = process.env['POWER_CUTS'] === undefined ? 7 : 1;

describe.skipIf(obstacle !== undefined)(
  'sqliteStore on a disk of which one operation after the other fails',
  () => {
    it.each(['EIO', 'ENOSPC'] as const)(
      'loses nothing that it has acknowledged, and resumes after %s',
      async (code) => {
        const [shim, scratch] = [new Shim(), new Scratch()];
        onTestFinished(() => {
          shim.dispose();
          scratch.dispose();
        });
        const log = scratch.file('disk.log');
        const script = join(import.meta.dirname, 'children/io-life.js');
        const args = [script, scratch.folder, `${log}.state`, String(constants.errno[code]), String(STRIDE)];
        // libsql ignores a failed read of its -wal at a checkpoint, see the README of the package.
        const hasOwn = 'sqlite' in process.versions && Number(process.versions.node.split('.')[0]) >= 22;
        const env = { ...shim.environment('webhooks.db', log), DISK_READS: hasOwn ? '1' : '0' };
        const { stdout } = await run(process.execPath, args, { env });
        const lines = stdout.trim().split('\n');
        const { lives, failing } = JSON.parse(lines.pop() ?? '{}') as { lives: number; failing: number };
        expect(lines).toEqual([]);
        // SQLite hides some failures, such as that of an unlink.
        expect(lives).toBeGreaterThan(200 / STRIDE);
        expect(failing).toBeGreaterThan(lives / 2);
      },
      120_000,
    );
  },
);
