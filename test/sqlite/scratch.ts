import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What these tests are about does not depend on how long a disk takes, so they use memory where there is some. */
const PARENT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder of its own for a test. */
export class Scratch {
  readonly folder: string = mkdtempSync(join(PARENT, 'wbp-sqlite-'));

  file(name = 'webhooks.db'): string {
    return join(this.folder, name);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
