import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Apart from the other tests: these pack and install, which takes long, and need a build.
export default defineConfig(({ mode }) => ({
  test: {
    provide: { isLong: mode === 'long' },
    globalSetup: [
      'tools.ts',
      'packed.ts',
      '../../test/postgres/global-setup.ts',
      '../../test/redis/global-setup.ts',
    ].map((file) => join(import.meta.dirname, file)),
    include: ['e2e/packaging/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
}));
