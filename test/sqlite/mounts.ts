import { execFileSync } from 'node:child_process';
import { Scratch } from './scratch.ts';

/** Whether this system lets the tests mount a small file system: as root of a machine or container that allows it. */
function canMount(): boolean {
  const probe = new Scratch();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe.folder], { stdio: 'ignore' });
    execFileSync('umount', [probe.folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    probe.dispose();
  }
}

export const isMountable: boolean = canMount();

/** Mounts a file system of that size over a folder. @returns what takes it away. */
export function mount(folder: string, megabytes: number): () => void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(megabytes)}m`, 'tmpfs', folder]);
  return () => {
    // Lazily: libsql closes files when it collects garbage.
    execFileSync('umount', ['-l', folder]);
  };
}
