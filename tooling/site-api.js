import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, Converter, ReflectionKind } from 'typedoc';
import { documentedEntries, publishedPackages, root } from './packages.js';

const out = join(root, 'docs/api');

/** Writes the API reference to docs/api, as Markdown for the site: one page for each function and type. */
export async function writeApi() {
  const entries = entryPoints();
  rmSync(out, { recursive: true, force: true });
  const application = await Application.bootstrapWithPlugins({
    name: 'API reference',
    out,
    // One program for all packages, from their sources: a program for each takes several times as long.
    entryPointStrategy: 'resolve',
    entryPoints: [...entries.values()],
    tsconfig: join(root, 'site/tsconfig.api.json'),
    // `npm run check:types` checks them.
    skipErrorChecking: true,
    basePath: join(root, 'packages'),
    readme: 'none',
    disableSources: true,
    treatWarningsAsErrors: true,
    plugin: [
      join(root, 'site/node_modules/typedoc-plugin-markdown/dist/index.js'),
      /** @param {Application} application */
      (application) => {
        nameModules(application, entries);
      },
    ],
    ...markdownOptions(),
  });
  const project = await application.convert();
  if (project === undefined) throw new Error('typedoc could not read the packages.');
  application.validate(project);
  await application.generateOutputs(project);
  if (application.logger.hasErrors() || application.logger.hasWarnings()) {
    throw new Error('typedoc has found what it prints above.');
  }
  for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.md')) shortenReferences(join(out, file));
  }
}

/** @returns {Record<string, unknown>} the options of typedoc-plugin-markdown */
function markdownOptions() {
  return {
    entryFileName: 'index',
    excludeScopesInPaths: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
    // Types and variables are part of their module's page: most are one line, and each page takes time to build.
    membersWithOwnFile: ['Class', 'Function', 'Interface'],
    pageTitleTemplates: {
      member: '{name}',
      module: '{name}',
    },
  };
}

/** @returns {Map<string, string>} the path of each entry point, by the name that users import */
function entryPoints() {
  return new Map(
    publishedPackages().flatMap((published) => {
      const { path, manifest } = published;
      return documentedEntries(published).map((entry) => {
        const subpath = entry.replace(/^src\//, '').replace(/\.ts$/, '');
        return /** @type {const} */ ([
          subpath === 'index' ? manifest.name : `${manifest.name}/${subpath}`,
          join(path, entry),
        ]);
      });
    }),
  );
}

/**
 * Calls modules by the names that users import, not by the paths of their files.
 *
 * @param {Application} application
 * @param {Map<string, string>} entries
 */
function nameModules(application, entries) {
  const names = new Map(
    [...entries].map(([name, path]) => {
      const file = path.slice(join(root, 'packages/').length);
      return [file.replace(/\.ts$/, '').replace(/\/index$/, ''), name];
    }),
  );
  application.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
    if (reflection.kind !== ReflectionKind.Module) return;
    reflection.name = names.get(reflection.name) ?? reflection.name;
  });
}

/**
 * An adapter exports all of the core. Instead of a heading and a sentence for each name, a list of links.
 *
 * @param {string} file
 */
function shortenReferences(file) {
  const page = readFileSync(file, 'utf8');
  const short = page.replaceAll(
    /### .+\n\n(?:Re-exports|Renames and re-exports) (\[.+\]\(.+\))\n(?:\n\*\*\*\n)?\n?/g,
    '- $1\n',
  );
  if (short !== page) writeFileSync(file, short);
}
