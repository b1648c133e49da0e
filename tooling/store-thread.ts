import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';
import { bundleSources } from './bundle-sources.ts';
import { root } from './packages.js';

const HOST = join(root, 'packages/sqlite/src/thread/store-thread.ts');
const ENTRY = join(root, 'packages/sqlite/src/thread/thread.ts');
/** Below node_modules, so that the packages that it imports are found from there. */
const FOLDER = join(root, 'node_modules/.cache/webhook-backpressure');
const BESIDE = "new URL('./thread.js', import.meta.url)";

/**
 * Lets tests from the sources run the thread of the SQLite store: Node runs no TypeScript in a thread on every version
 * that we support, so it is bundled, once for each run of the tests, and started from there.
 */
export function storeThread(): Plugin {
  let bundled: Promise<string> | undefined;
  return {
    name: 'store-thread',
    // Before anything else has changed the words.
    enforce: 'pre',
    async transform(code, id) {
      if (id !== HOST) return undefined;
      if (!code.includes(BESIDE)) throw new Error(`${HOST} does not start its thread as this expects.`);
      bundled ??= bundle();
      return { code: code.replace(BESIDE, `new URL('${pathToFileURL(await bundled).href}')`), map: null };
    },
  };
}

async function bundle(): Promise<string> {
  const folder = join(FOLDER, String(process.pid));
  mkdirSync(folder, { recursive: true });
  await bundleSources(ENTRY, folder, 'thread.js');
  return join(folder, 'thread.js');
}
