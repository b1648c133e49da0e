import { defineConfig } from 'vitest/config';

// Apart from the other tests: these install and build hosts. `npm run test:hosts` starts them.
export default defineConfig({
  // The conformance suite takes our packages from their sources.
  ssr: { resolve: { conditions: ['@webhook-backpressure/source', 'node', 'development|production'] } },
  test: {
    include: ['e2e/hosts/**/*.test.ts'],
    globalSetup: ['e2e/hosts/global-setup.ts'],
    testTimeout: 10_000,
    hookTimeout: 60_000,
    reporters: ['default', './tooling/verdict-reporter.ts'],
  },
});
