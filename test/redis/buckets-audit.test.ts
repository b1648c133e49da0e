import { describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';
import { auditBuckets } from './buckets-audit.ts';

const SIZE = isLong
  ? { endpoints: 1_000, kills: 10, recordsPerKill: 40_000 }
  : { endpoints: 100, kills: 3, recordsPerKill: 600 };

describe.skipIf(isRedisSkipped)('the limits of endpoints', () => {
  it(
    'hold in every second while four processes share them, and are killed one after the other',
    { timeout: 300_000 },
    async () => {
      const audit = await auditBuckets({ url: redisUrl, prefix: redisPrefix(), processes: 4, ...SIZE });
      if (isLong) {
        console.log(audit);
        // Not on a machine that runs other tests: tokens are lost while processes are interrupted.
        expect(audit.used).toBeGreaterThan(0.95);
      }
      expect(audit.exceeded).toEqual([]);
      // A figure near 1 shows that the check could fail.
      expect(audit.highest).toBeGreaterThan(0.8);
      expect(audit.highest).toBeLessThanOrEqual(1);
    },
  );
});
