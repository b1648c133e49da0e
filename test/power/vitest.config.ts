import { defineConfig } from 'vitest/config';

/** The long form of the test beside it; `npm run test:power` starts it. */
export default defineConfig({
  test: { include: ['test/power/*.test.ts'], env: { POWER_CUTS: '1000' } },
});
