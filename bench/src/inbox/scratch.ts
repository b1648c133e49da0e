import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0x794c7630, 'overlayfs'],
  [0x1a, 'apfs'],
]);
const TMPFS = 0x01021994;

/** For files that are thrown away: a folder on a disk. In one that is kept in memory, a commit would wait for nothing. */
const folder: string =
  statfsSync(tmpdir()).type === TMPFS ? fileURLToPath(new URL('..', import.meta.url)) : tmpdir();

/** On what the files were, for the report. */
export function describeFileSystem(): string {
  const { type } = statfsSync(folder);
  return FILE_SYSTEMS.get(type) ?? `a file system of type 0x${type.toString(16)}`;
}

/** A new folder that is removed when `work` has ended. */
export async function inScratch<T>(work: (newFile: () => string) => Promise<T>): Promise<T> {
  const own = mkdtempSync(join(folder, 'webhook-backpressure-bench-'));
  let files = 0;
  try {
    return await work(() => join(own, `${String((files += 1))}.db`));
  } finally {
    rmSync(own, { recursive: true });
  }
}
