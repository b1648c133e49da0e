import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Whether the thread's file stands beside this one, as it does in the published package. In a bundle it may be missing,
 * and in the sources it is not compiled.
 */
export function isThreadThere(): boolean {
  try {
    return existsSync(join(dirname(fileURLToPath(import.meta.url)), 'thread.js'));
  } catch {
    // A bundle that has no place of its own.
    return false;
  }
}
