import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Apart from the other tests: the rehearsal clones, builds, publishes and installs. `npm run test:release` starts it.
export default defineConfig({
  test: {
    globalSetup: ['../packaging/tools.ts', 'rehearsal.ts'].map((file) => join(import.meta.dirname, file)),
    include: ['e2e/release/**/*.test.ts'],
    // Each file installs and compiles, which keeps both cores of a small machine busy.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
