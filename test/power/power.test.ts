import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { powerFailures, Shim, type Life, type Losses } from './power-failures.ts';

/** `npm run test:power` simulates a thousand. */
const CUTS = Number(process.env['POWER_CUTS'] ?? 10);
const DELIVERIES = 140;
const CUTS_PER_LIFE = 25;
/** The syncs of a run of that length, and some that are never reached. */
const SYNCS = 220;

const { obstacle } = Shim;
let shim: Shim | undefined;

beforeAll(() => {
  if (obstacle === undefined) shim = new Shim();
});
afterAll(() => {
  shim?.dispose();
});

type Plan = Pick<Life, 'processes' | 'restarts'> & { readonly fails: boolean };

function lives({ processes, restarts, fails }: Plan): Life[] {
  return Array.from({ length: Math.ceil(CUTS / CUTS_PER_LIFE) }, (_, at) => ({
    seed: at + 1,
    processes,
    restarts,
    deliveries: DELIVERIES,
    cuts: Math.min(CUTS, CUTS_PER_LIFE),
    eioAt: fails ? 1 + ((at * 37 + 20) % SYNCS) : 0,
  }));
}

describe.skipIf(obstacle !== undefined)(
  `power failures${obstacle === undefined ? '' : `: ${obstacle}`}`,
  () => {
    it.each<[string, Plan]>([
      ['of one process', { processes: 1, restarts: 1, fails: false }],
      ['of two processes on one file', { processes: 2, restarts: 0, fails: false }],
      ['of one process after a sync that failed', { processes: 1, restarts: 0, fails: true }],
      ['of two processes on one file after a sync that failed', { processes: 2, restarts: 0, fails: true }],
      [
        'of processes that are started again after it',
        { processes: 1, restarts: CUTS > 50 ? 5 : 2, fails: true },
      ],
    ])(
      'lose no acknowledged delivery: %s',
      async (_, plan) => {
        const losses = await powerFailures(shim as Shim, lives(plan));
        if (process.env['POWER_CUTS'] !== undefined) console.log(JSON.stringify(losses));
        expect(losses.acknowledged).toBeGreaterThan(DELIVERIES / 2);
        expect(losses).toMatchObject<Partial<Losses>>({ cutsWithLoss: 0, mostLost: 0, damages: [] });
      },
      600_000,
    );
  },
);
