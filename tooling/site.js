// Builds the docs site into site/dist, and checks its links: `node tooling/site.js`. With `dev`, serves it and shows
// changes of pages immediately.
//
// VitePress has its own lockfile in site/, and is installed when it is absent or that lockfile has changed.
import { join } from 'node:path';
import { installIn, run } from './own-lockfile.js';
import { root } from './packages.js';

const isDev = process.argv[2] === 'dev';

installIn('site');
const { writeApi } = await import('./site-api.js');
await writeApi();
const vitepress = join(root, 'site/node_modules/vitepress/bin/vitepress.js');
// The build makes much garbage: with more room for young objects, it is collected less often.
run(process.execPath, ['--max-semi-space-size=64', vitepress, isDev ? 'dev' : 'build', 'site'], root);
if (!isDev) {
  const { brokenLinks } = await import('./site-links.js');
  const broken = brokenLinks(join(root, 'site/dist'));
  for (const line of broken) process.stderr.write(`${line}\n`);
  if (broken.length > 0) process.exit(1);
}
