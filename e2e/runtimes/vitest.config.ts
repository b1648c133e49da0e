import { defineConfig } from 'vitest/config';

// Apart from the other tests: these install runtimes. `npm run test:runtimes` starts them.
export default defineConfig({
  test: { include: ['e2e/runtimes/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 30_000 },
});
