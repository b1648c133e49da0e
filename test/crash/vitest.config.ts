import { defineConfig } from 'vitest/config';

const { CRASH_STORE: store, CRASH_OF: of } = process.env;

function chosen(): { readonly include: string[]; readonly env: Record<string, string> } {
  if (of === 'transactions')
    return { include: ['test/crash/transactions.test.ts'], env: { CRASH_KILLS: '2000' } };
  if (of === 'reconcile')
    return { include: ['test/crash/reconcile.test.ts'], env: { CRASH_KILLS: '6', CRASH_EVENTS: '10000' } };
  if (of === 'sender')
    return {
      include: [
        store === 'postgres' ? 'test/crash/outbox-on-postgres.test.ts' : 'test/crash/outbox-crash.test.ts',
      ],
      env: { CRASH_KILLS: '100' },
    };
  if (store === 'postgres')
    return {
      include: ['test/crash/postgres-crash.test.ts'],
      env: { CRASH_KILLS: '60', CRASH_STOPS: '5', CRASH_PARTITION_MS: '20000' },
    };
  return { include: ['test/crash/crash.test.ts'], env: { CRASH_KILLS: '100' } };
}

/** The long variant of the crash tests, for `npm run test:crash`. */
export default defineConfig({ test: chosen() });
