import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { storeThread } from './tooling/store-thread.ts';

/** Each file has its own process, which gives a warning once, counts timers, or starts many other processes. */
const OWN = ['power/*', 'servers/created-in-handler', 'servers/unread-body'].map(
  (name) => `test/${name}.test.ts`,
);

/** Files of `npm run test:long` alone: each takes 8 to 30 seconds, and looks at what other files see on a smaller scale. */
const LONG = [
  'test/browser/accessibility.test.ts',
  'test/browser/sender-page.test.ts',
  'test/crash/outbox-on-postgres.test.ts',
  'test/crash/transactions.test.ts',
  'test/power/slow-disk.test.ts',
  'test/postgres/trouble/*.test.ts',
  'test/redis/*-audit.test.ts',
  'test/sqlite/killed-shapes.test.ts',
];

/** Files of `npm run test:programs`: they start what users run, compile what they copy, open a page, or kill receivers. */
const PROGRAMS = [
  'browser/*',
  'crash/*',
  'create/folders',
  'demo/demo',
  'docs/code-blocks',
  'examples/*',
  'nest/example',
].map((name) => `test/${name}.test.ts`);

export default defineConfig(({ mode }) => {
  // The first call is for all, those of projects have another mode. Workers inherit the variable.
  process.env['TEST_MODE'] ??= mode;
  const isLong = process.env['TEST_MODE'] === 'long';
  const exclude = [...configDefaults.exclude, 'test/nest/handlers.test.ts', ...(isLong ? [] : LONG)];
  return {
    plugins: [storeThread()],
    ssr: {
      resolve: {
        // The first takes our packages from their sources, so that tests need no build. Never list `import` here:
        // Vitest hands the list on to Node, which then applies it to require() too, and a CommonJS framework gets
        // the ES module build of what it depends on. Nor `module`: @opentelemetry/api has a build for bundlers there, which
        // Node cannot load.
        conditions: ['@webhook-backpressure/source', 'node', 'development|production'],
      },
    },
    test: {
      projects: [
        {
          extends: true,
          // Files that share a process load nothing a second time, which saves a second of each.
          test: {
            name: 'shared process',
            include: ['test/**/*.test.ts'],
            exclude: [...exclude, ...OWN, ...PROGRAMS],
            isolate: false,
          },
        },
        { extends: true, test: { name: 'own process', include: OWN, exclude } },
        { extends: true, test: { name: 'programs', include: PROGRAMS, exclude } },
      ],
      globalSetup: ['examples', 'postgres', 'redis'].map((folder) => `test/${folder}/global-setup.ts`),
      // Simulations allocate much that is soon garbage: collecting it less often takes 5 % less processor time.
      execArgv: ['--max-semi-space-size=32'],
      // One more than cores: many tests wait for servers and processes.
      maxWorkers: availableParallelism() + 1,
      // Simulations of minutes take seconds, and several times as many on a machine that does something else as well.
      testTimeout: 30_000,
      reporters: ['default', './tooling/verdict-reporter.ts'],
    },
  };
});
