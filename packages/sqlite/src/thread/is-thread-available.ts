import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Whether the compiled file of the thread is beside this one, as in the published package. A bundler may have separated
 * them, and the sources are not compiled.
 */
export function isThreadAvailable(): boolean {
  try {
    return existsSync(join(dirname(fileURLToPath(import.meta.url)), 'thread.js'));
  } catch {
    // Bundled code without a file.
    return false;
  }
}
