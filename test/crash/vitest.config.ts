import { defineConfig } from 'vitest/config';

/** The long variant of the crash tests, for `npm run test:crash`. */
export default defineConfig({
  test: { include: ['test/crash/crash.test.ts'], env: { CRASH_KILLS: '100' } },
});
