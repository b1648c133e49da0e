import { defineConfig } from 'vitest/config';

/** Takes the pictures of the live page: `npm run screenshots`. */
export default defineConfig({
  test: {
    include: ['e2e/screenshots/take.ts'],
    testTimeout: 300_000,
  },
});
