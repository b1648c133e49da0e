import { execFileSync } from 'node:child_process';
import { Scratch } from './scratch.ts';

/** Whether the tests may mount a file system, which requires root and a container that allows it. */
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

/** Mounts a file system of a given size over a folder. @returns a function that unmounts it. */
export function mount(folder: string, megabytes: number): () => void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${String(megabytes)}m`, 'tmpfs', folder]);
  return () => {
    // Lazily, since libsql closes files at garbage collection.
    execFileSync('umount', ['-l', folder]);
  };
}
