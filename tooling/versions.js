// Writes the versions that packages report about themselves, after `changeset version` has changed their manifests.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages } from './packages.js';

for (const { folder, path, manifest } of publishedPackages()) {
  if (folder !== 'otel') continue;
  writeFileSync(
    join(path, 'src/version.ts'),
    `/** The version of this package, written by \`npm run release:version\`. */\nexport const VERSION = '${manifest.version}';\n`,
  );
}
