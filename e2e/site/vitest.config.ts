import { defineConfig } from 'vitest/config';

/** Looks at the built site in a browser: `npm run site && npm run test:site`. */
export default defineConfig({
  // The planner of the site comes from its sources.
  ssr: { resolve: { conditions: ['@webhook-backpressure/source', 'node', 'development|production'] } },
  test: {
    include: ['e2e/site/*.test.ts'],
    testTimeout: 120_000,
  },
});
