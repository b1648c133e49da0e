import { configDefaults, defineConfig } from 'vitest/config';
import { storeThread } from './tooling/store-thread.ts';

/**
 * Their files share a process, which saves a third of the time: they load nothing a second time. Files of other folders
 * count timers and listeners, start servers or read what a driver keeps, and each have their own process.
 */
const SHARED = [
  'conformance',
  'core',
  'dashboard',
  'fire',
  'frameworks',
  'loggers',
  'otel',
  'planner',
  'prometheus',
  'reconcile',
  'sender',
  'simulation',
  'types',
  'vopr',
].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig(({ mode }) => {
  // The first call is for all, those of projects have another mode. Workers inherit the variable.
  process.env['TEST_MODE'] ??= mode;
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
        { extends: true, test: { name: 'shared process', include: SHARED, isolate: false } },
        {
          extends: true,
          test: {
            name: 'own process',
            include: ['test/**/*.test.ts'],
            exclude: [...configDefaults.exclude, ...SHARED, 'test/nest/handlers.test.ts'],
          },
        },
      ],
      globalSetup: ['test/postgres/global-setup.ts', 'test/redis/global-setup.ts'],
      // By default, one core of two would be idle. Many tests wait for servers and processes.
      maxWorkers: '100%',
      // Simulations of minutes take seconds, and several times as many on a machine that does something else as well.
      testTimeout: 30_000,
      reporters: ['default', './tooling/verdict-reporter.ts'],
    },
  };
});
