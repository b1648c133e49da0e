// Compares the public API of every package, as the compiler sees it, with the report that is committed beside
// it, so that no change of the API goes unnoticed. `--update` writes the reports instead.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
} from '@microsoft/api-extractor';
import { entriesOf, publishedPackages, root } from './packages.js';

/** For our own packages, which have the same version: nothing in them is public. */
const OWN_ENTRIES = new Set(['./extend', './middleware', './parts', './store', './tool']);

/** Their entries also have parts for our own packages, which need no documentation. */
const MIXED_PACKAGES = new Set(['fleet', 'observe']);
const UNDOCUMENTED = {
  'ae-undocumented': { logLevel: ExtractorLogLevel.None },
  'ae-forgotten-export': { logLevel: ExtractorLogLevel.None },
};

const update = process.argv.includes('--update');
/** @type {string[]} */
const stale = [];

/** Users get its public names from `core`, whose report has them. The others are for our own packages too. */
const OWN_PACKAGE = 'base';

for (const published of publishedPackages()) {
  if (published.folder === OWN_PACKAGE) continue;
  for (const { subpath, types } of entriesOf(published)) {
    if (OWN_ENTRIES.has(subpath)) continue;
    const report = [published.folder, ...subpath.split('/').slice(1)].join('-');
    const reportFolder = join(published.path, 'api');
    mkdirSync(reportFolder, { recursive: true });
    const config = ExtractorConfig.prepare({
      packageJsonFullPath: join(published.path, 'package.json'),
      configObjectFullPath: undefined,
      configObject: {
        projectFolder: published.path,
        mainEntryPointFilePath: types,
        newlineKind: 'lf',
        compiler: {
          // Other packages are seen as users see them: through their declarations, not their sources.
          overrideTsconfig: { extends: './tsconfig.json', compilerOptions: { customConditions: [] } },
        },
        apiReport: {
          enabled: true,
          reportFileName: report,
          reportFolder,
          reportTempFolder: join(root, 'temp', 'api'),
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        messages: {
          compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
          extractorMessageReporting: {
            default: { logLevel: ExtractorLogLevel.Error },
            // Everything exported is public; nothing is marked as alpha, beta or internal.
            'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
            ...(MIXED_PACKAGES.has(published.folder) && UNDOCUMENTED),
          },
          tsdocMessageReporting: {
            default: { logLevel: ExtractorLogLevel.Error },
            // An arrow in a sentence is no HTML.
            'tsdoc-escape-greater-than': { logLevel: ExtractorLogLevel.None },
          },
        },
      },
    });
    const result = Extractor.invoke(config, {
      localBuild: update,
      messageCallback(message) {
        if (message.category === ExtractorMessageCategory.Console)
          message.handled = message.logLevel === ExtractorLogLevel.Info;
      },
    });
    if (!result.succeeded) stale.push(`${published.manifest.name}${subpath.slice(1)}`);
  }
}

if (stale.length > 0) {
  console.error(`The public API differs from its report, or has errors: ${stale.join(', ')}.`);
  console.error('If the change is meant, run `npm run api` and commit the reports.');
  process.exitCode = 1;
}
