import { defineConfig } from 'vitest/config';

/** The long form of the test beside it; `npm run test:crash` starts it. */
export default defineConfig({
  test: { include: ['test/crash/crash.test.ts'], env: { CRASH_KILLS: '100' } },
});
