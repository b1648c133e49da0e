// Bundles the search of test/vopr from the sources, and runs it: `node tooling/vopr.js [--seeds N] [--first SEED]`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './packages.js';

/**
 * @param {string} file where the program is written
 * @param {import('rolldown').Plugin[]} [plugins]
 */
export async function bundleSearch(file, plugins = []) {
  const build = await rolldown({
    input: join(root, 'test/vopr/cli.ts'),
    platform: 'node',
    resolve: { conditionNames: ['@webhook-backpressure/source', 'node', 'import'] },
    plugins,
  });
  await build.write({ file, format: 'es', sourcemap: true, codeSplitting: false });
  await build.close();
}

if (process.argv[1] === import.meta.filename) {
  const program = join(root, 'temp/vopr/search.js');
  await bundleSearch(program);
  const { status } = spawnSync('node', ['--enable-source-maps', program, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
