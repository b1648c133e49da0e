import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// Apart from the other tests: these install and build hosts. `npm run test:hosts` starts them.
export default defineConfig({
  ...base,
  test: {
    include: ['e2e/hosts/**/*.test.ts'],
    globalSetup: ['e2e/hosts/global-setup.ts'],
    testTimeout: 10_000,
    hookTimeout: 60_000,
    reporters: ['default', './tooling/verdict-reporter.ts'],
  },
});
