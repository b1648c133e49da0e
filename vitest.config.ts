import { configDefaults, defineConfig } from 'vitest/config';
import { storeThread } from './tooling/store-thread.ts';

export default defineConfig({
  plugins: [storeThread()],
  ssr: {
    resolve: {
      // The first takes our packages from their sources, so that tests need no build. Never list `import` here:
      // Vitest hands the list on to Node, which then applies it to require() too, and a CommonJS framework gets
      // the ES module build of what it depends on.
      conditions: ['@webhook-backpressure/source', 'module', 'node', 'development|production'],
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/packaging/**', 'test/runtimes/**'],
    reporters: ['default', './tooling/verdict-reporter.ts'],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      reporter: ['text', 'html'],
    },
  },
});
