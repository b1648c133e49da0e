import { defineConfig } from 'vitest/config';

/** The long variant of the power tests, for `npm run test:power`. */
export default defineConfig({
  test: { include: ['test/power/*.test.ts'], env: { POWER_CUTS: '1000' } },
});
