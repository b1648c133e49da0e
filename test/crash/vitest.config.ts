import { defineConfig } from 'vitest/config';

const onPostgres = { CRASH_KILLS: '60', CRASH_STOPS: '5', CRASH_PARTITION_MS: '20000' };

/** The long variant of the crash tests, for `npm run test:crash`. */
export default defineConfig({
  test:
    process.env['CRASH_STORE'] === 'postgres'
      ? { include: ['test/crash/postgres-crash.test.ts'], env: onPostgres }
      : { include: ['test/crash/crash.test.ts'], env: { CRASH_KILLS: '100' } },
});
