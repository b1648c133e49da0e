import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { adapters } from './tooling/packages.js';

/** What a package for a framework or platform translates to. */
const RECEIVING = ['base', 'senders', 'core', 'inbox'];

/**
 * What the source of each package may import, beside its own files; `types` only where nothing of it is left in
 * the compiled JavaScript. Adapters that are not listed have the row of `translation`; another package may import nothing.
 *
 * @type {Record<string, { packages?: string[], npm?: string[], types?: string[], node?: 'values' | 'types' }>}
 */
const mayImport = {
  base: {},
  senders: { packages: ['base'] },
  core: { packages: ['base', 'senders'] },
  fleet: { packages: ['base', 'core'] },
  inbox: { packages: ['base', 'senders', 'core', 'fleet'] },
  observe: { packages: ['base', 'core', 'inbox'] },
  node: { packages: [...RECEIVING], node: 'values' },
  hono: { packages: [...RECEIVING, 'node', 'web'], npm: ['hono'], node: 'types' },
  sqlite: { packages: ['base', 'inbox'], npm: ['libsql'], node: 'values' },
  postgres: { packages: ['base', 'fleet', 'inbox'], npm: ['pg'], node: 'values' },
  redis: { packages: ['base', 'fleet'], node: 'values' },
  bullmq: { packages: ['base', 'fleet', 'inbox'], npm: ['bullmq'], node: 'values' },
  sender: {
    packages: ['base', 'core', 'fleet', 'inbox', 'observe'],
    npm: ['undici', 'standardwebhooks', 'ipaddr.js'],
    node: 'values',
  },
  reconcile: { packages: ['base', 'core', 'inbox', 'sender'] },
  otel: { packages: ['base', 'core', 'observe'], npm: ['@opentelemetry/api'] },
  prometheus: { packages: ['base', 'observe'], npm: ['prom-client'] },
  dashboard: { packages: ['base', 'core', 'inbox', 'observe'], node: 'types' },
  planner: { packages: ['base', 'senders', 'core', 'fleet', 'inbox'], node: 'values' },
  create: { node: 'values' },
  fire: { packages: ['base', 'senders', 'inbox', 'planner', 'sender'], node: 'values' },
};

/**
 * The rooms of a package, one folder for each idea, in their order: a file imports from its own room and from the rooms
 * before it. `AGENTS.md` says what each holds. `entries` are the files at the root that export the others.
 *
 * @type {Record<string, { entries: string[], rooms: string[] }>}
 */
export const order = {
  base: { entries: ['index'], rooms: ['.', 'time'] },
  senders: { entries: ['index'], rooms: ['.', 'profiles'] },
  core: {
    entries: ['index', 'middleware', 'extend', 'testing'],
    rooms: [
      ...['delivery', 'queue', 'limits', 'workers', 'refusals', 'intake', 'middleware', 'history', '.'],
    ],
  },
  fleet: { entries: ['index'], rooms: ['buckets', '.'] },
  inbox: {
    entries: ['index', 'store', 'tool'],
    rooms: [
      ...['delivery', 'store', 'store/memory', 'events', 'encryption', 'verifiers', 'options', 'time'],
      ...['store-calls', 'capacity', 'receive', 'work', 'admin', 'maintenance', 'tool', '.'],
    ],
  },
  node: { entries: ['index', 'inbox', 'request'], rooms: ['request', 'shutdown', '.'] },
  web: { entries: ['index', 'inbox', 'parts'], rooms: ['platform', 'request', 'response', '.'] },
  sqlite: {
    entries: ['index', 'cli'],
    rooms: ['.', 'connection', 'file', 'tables', 'finished', 'queue', 'store', 'thread', 'cli'],
  },
  postgres: {
    entries: ['index', 'postgres-store', 'cli'],
    rooms: ['.', 'server', 'schema', 'registry', 'records', 'queue', 'store', 'cli'],
  },
  sender: {
    entries: ['index', 'fetch', 'parts'],
    rooms: [
      ...[
        'requests',
        'answers',

        'options',
        'endpoints',
        'buckets',
        'pace',
        'calls',
        'outbox',
        'batches',
        'dispatch',
        '.',
      ],
    ],
  },
  planner: {
    entries: ['index', 'parts', 'cli'],
    rooms: ['base', 'scenario', 'traffic', 'senders', 'runs', 'results', 'search', 'output', 'cli', '.'],
  },
  fire: {
    entries: ['index', 'cli'],
    rooms: ['samples', 'signing', 'requests', 'run', 'report', 'listen', 'cli', '.'],
  },
  dashboard: {
    entries: ['index'],
    rooms: ['page', 'state', 'options', 'answers', 'events', 'levers', 'requests', 'node', '.'],
  },
};

for (const { folder, manifest } of adapters()) mayImport[folder] ??= translation(manifest);

const builtins = `^(node:)?(${builtinModules.join('|')})$`;

/** @param {string} name of an npm package, whether it brings its types itself or not */
const npm = (name) => `(^|/)node_modules/(@types/)?${name}/`;

/** Packages of the benchmarks and of the docs site, which `npm ci` at the root does not install. */
const ownLockfiles = ['bench', 'site'].flatMap((folder) => dependenciesOf(`${folder}/package.json`));

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

/** @type {import('dependency-cruiser').IRegularForbiddenRuleType[]} */
const downward = [];
for (const [name, { entries, rooms }] of Object.entries(order)) {
  const source = `^packages/${name}/src/`;
  const entry = `${source}(${entries.join('|')})[.]ts$`;
  /** @param {string[]} of */
  const files = (...of) => `${source}(${of.map((room) => (room === '.' ? '' : `${room}/`)).join('|')})[^/]+$`;
  for (const [at, room] of rooms.entries()) {
    const later = rooms.slice(at + 1);
    if (later.length === 0) continue;
    downward.push({
      name: `${name}-${room}-downward`,
      comment: `Rooms that come later in the order of packages/${name}, at the top of this file, may import this one.`,
      severity: 'error',
      from: { path: files(room), pathNot: entry },
      to: { path: files(...later) },
    });
  }
  downward.push(
    {
      name: `${name}-unlisted-room`,
      comment: 'A new room first gets a place in the order at the top of this file.',
      severity: 'error',
      from: { path: source },
      to: { path: source, pathNot: files(...rooms) },
    },
    {
      name: `${name}-entries-export`,
      comment: 'What is exported is imported from where it is.',
      severity: 'error',
      from: { path: source, pathNot: entry },
      to: { path: entry },
    },
  );
}

/**
 * What an adapter may import: our packages that its package.json names, of those for receiving, its own dependencies, and
 * the types of its framework.
 *
 * @param {import('./tooling/packages.js').Manifest} manifest
 */
function translation({ dependencies = {}, peerDependencies = {} }) {
  const scope = '@webhook-backpressure/';
  const names = Object.keys(dependencies);
  return {
    packages: [...RECEIVING, 'node', 'web'].filter((folder) => names.includes(scope + folder)),
    npm: names.filter((name) => !name.startsWith(scope)),
    types: Object.keys(peerDependencies).flatMap((name) => [name, `${name}-serve-static-core`]),
    node: /** @type {const} */ ('types'),
  };
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
    ...downward,
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
      to: { couldNotResolve: true, pathNot: `^(${ownLockfiles.join('|')})(/|$)` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: [
        '^(packages/[^/]+|test|test/simulation|bench|demo|examples|site)/(dist|types)/',
        // Their frameworks are installed in a temporary folder.
        '^e2e/hosts/apps/',
      ],
    },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@webhook-backpressure/source', 'types', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.d.ts'],
      mainFields: ['types', 'main'],
    },
  },
};
