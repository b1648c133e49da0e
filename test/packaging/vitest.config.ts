import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Apart from the other tests: these pack and install, which takes long, and need a build.
export default defineConfig({
  test: {
    globalSetup: ['tools.ts', '../postgres/global-setup.ts', '../redis/global-setup.ts'].map((file) =>
      join(import.meta.dirname, file),
    ),
    include: ['test/packaging/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
