import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';

/**
 * What the source of each package may import, beside its own files; `types` only where nothing of it is left in
 * the compiled JavaScript. A package that is not listed may import nothing.
 *
 * @type {Record<string, { packages?: string[], npm?: string[], types?: string[], node?: 'values' | 'types' }>}
 */
const mayImport = {
  core: { npm: ['p-limit'] },
  node: { packages: ['core'], node: 'values' },
  express: { packages: ['core', 'node'], types: ['express', 'express-serve-static-core'], node: 'types' },
  koa: { packages: ['core', 'node'], types: ['koa'], node: 'types' },
  hono: { packages: ['core', 'node'], npm: ['hono'], node: 'types' },
  sqlite: { packages: ['core'], npm: ['libsql'], node: 'values' },
};

const builtins = `^(node:)?(${builtinModules.join('|')})$`;

/** @param {string} name of an npm package, whether it brings its types itself or not */
const npm = (name) => `(^|/)node_modules/(@types/)?${name}/`;

/** The benchmarks' own packages, which `npm ci` at the root does not install. */
const benchOnly = dependenciesOf('bench/package.json');

/** @type {import('dependency-cruiser').IRegularForbiddenRuleType[]} */
const boundaries = [];
for (const [name, { packages = [], npm: values = [], types = [], node }] of Object.entries(mayImport)) {
  const from = { path: `^packages/${name}/src/` };
  const typesOnly = [...types.map(npm), ...(node === 'types' ? [builtins] : [])];
  const sources = `^packages/(${[name, ...packages].join('|')})/src/`;
  boundaries.push({
    name: `${name}-imports`,
    comment: `packages/${name} may import only what the table at the top of this file allows.`,
    severity: 'error',
    from,
    to: { pathNot: [sources, ...values.map(npm), ...typesOnly, ...(node === 'values' ? [builtins] : [])] },
  });
  if (typesOnly.length === 0) continue;
  boundaries.push({
    name: `${name}-imports-types`,
    comment: `Only types may come from there, so that packages/${name} loads without it.`,
    severity: 'error',
    from,
    to: { path: typesOnly, dependencyTypesNot: ['type-only'] },
  });
}

/**
 * @param {string} file
 * @returns {string[]}
 */
function dependenciesOf(file) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  return Object.keys(/** @type {{ dependencies: object }} */ (manifest).dependencies);
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...boundaries,
    {
      name: 'unlisted-package',
      comment: 'A new package first says in the table at the top of this file what it may import.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: `^packages/(${Object.keys(mayImport).join('|')})/` },
      to: { pathNot: '^packages/$1/' },
    },
    {
      name: 'no-cycles',
      comment: 'Files that import each other, even if only for types, cannot be understood one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'packages-by-name',
      comment: 'Another package is imported by its name, as users do. Only tests may look inside.',
      severity: 'error',
      from: { path: '^(packages/[^/]+|bench|demo|examples)/', pathNot: '^test/' },
      to: { path: '^packages/', pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'resolvable',
      comment: 'Every import leads somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: `^(${benchOnly.join('|')})$` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(packages/[^/]+|test|test/simulation|bench|demo|examples)/dist/' },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@webhook-backpressure/source', 'types', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.d.ts'],
      mainFields: ['types', 'main'],
    },
  },
};
