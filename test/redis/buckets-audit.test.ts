import { describe, expect, it } from 'vitest';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';
import { auditBuckets, type AuditOptions } from './buckets-audit.ts';

const { BUCKETS_AUDIT } = process.env;
const SIZES: Record<string, Pick<AuditOptions, 'endpoints' | 'kills' | 'recordsPerKill'>> = {
  short: { endpoints: 100, kills: 5, recordsPerKill: 600 },
  long: { endpoints: 1_000, kills: 10, recordsPerKill: 40_000 },
};

describe.skipIf(isRedisSkipped)('the limits of endpoints', () => {
  it(
    'hold in every second while four processes share them, and are killed one after the other',
    { timeout: 300_000 },
    async () => {
      const size = SIZES[BUCKETS_AUDIT ?? 'short'] as (typeof SIZES)['short'] & object;
      const audit = await auditBuckets({ url: redisUrl, prefix: redisPrefix(), processes: 4, ...size });
      if (BUCKETS_AUDIT !== undefined) {
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
