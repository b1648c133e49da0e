import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import rooms from './rooms.json' with { type: 'json' };

// Tools that look for imports load this file without a room.
const room = rooms[(process.env['MUTANTS_ROOM'] ?? 'buckets') as keyof typeof rooms];

/** The tests of one room, in one process that is used for all of its mutants. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  ssr: { resolve: { conditions: ['@webhook-backpressure/source', 'node', 'development|production'] } },
  // The first run of the tests records which lines each of them runs, and takes several times as long.
  test: { include: room.tests, isolate: false, testTimeout: 60_000 },
});
