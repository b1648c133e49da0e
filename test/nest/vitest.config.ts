import { defineConfig } from 'vitest/config';

// `npm run test:nest` runs the tests with all supported versions of Nest. The first run installs the older ones.
export default defineConfig({
  test: {
    include: ['test/nest/**/*.test.ts'],
    env: { NEST: 'all' },
    testTimeout: 60_000,
  },
});
