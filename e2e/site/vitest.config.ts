import { defineConfig } from 'vitest/config';

/** Looks at the built site in a browser: `npm run site && npm run test:site`. */
export default defineConfig({
  test: {
    include: ['e2e/site/*.test.ts'],
    testTimeout: 120_000,
  },
});
