import { describe, expect, it } from 'vitest';
import type { Admission, Delivery } from '@webhook-backpressure/core';
import { Handshakes } from '../../../packages/core/src/queue/handshakes.ts';
import { createBench, letIn, occupy, type Bench } from '../harness.ts';

const handshake: Delivery = { key: 'slack', handshake: true };
const HIGH = 80;

/** An intake that sheds, with 100 places, the last 20 of them a reserve. */
function shedding(): Bench {
  const bench = createBench({ capacity: 100, concurrency: 1, maxWaitMs: 600_000, maxHandlingMs: 86_400_000 });
  occupy(bench.intake, 'slack');
  fill(bench);
  return bench;
}

function fill({ intake }: Bench): void {
  for (let i = 0; i < 200; i += 1) intake.admit({ key: 'slack' });
  expect(intake.snapshot().depth).toBe(HIGH);
}

function passedOf({ intake }: Bench, count: number): Admission[] {
  const answers = Array.from({ length: count }, () => intake.admit(handshake));
  return answers.filter((answer) => answer.admitted);
}

describe('handshakes admitted as critical', () => {
  it('are ten per second', () => {
    const handshakes = new Handshakes();
    let passed = 0;
    for (let ms = 0; ms < 10_000; ms += 1) {
      if (!handshakes.tryBegin(ms)) continue;
      passed += 1;
      handshakes.end();
    }
    // Ten to begin with, and then ten each second.
    expect(passed).toBeGreaterThanOrEqual(109);
    expect(passed).toBeLessThanOrEqual(110);
  });

  it('are five concurrently', () => {
    const handshakes = new Handshakes();
    const passed = Array.from({ length: 8 }, () => handshakes.tryBegin(0)).filter(Boolean);
    expect(passed).toHaveLength(5);
    expect(handshakes.tryBegin(60_000)).toBe(false);
    handshakes.end();
    expect([handshakes.tryBegin(60_000), handshakes.tryBegin(60_000)]).toEqual([true, false]);
  });

  it('do not accumulate while there are none', () => {
    const handshakes = new Handshakes();
    let passed = 0;
    for (let i = 0; i < 50; i += 1) {
      if (!handshakes.tryBegin(3_600_000)) break;
      passed += 1;
      handshakes.end();
    }
    expect(passed).toBe(10);
  });
});

describe('an intake that sheds', () => {
  it('admits five forged handshakes concurrently, and treats the others as ordinary deliveries', () => {
    const bench = shedding();
    expect(passedOf(bench, 1000)).toHaveLength(5);
    expect(bench.intake.snapshot().depth).toBe(HIGH + 5);
  });

  it('admits ten within a second, however fast they are handled', () => {
    const bench = shedding();
    let passed = 0;
    for (let i = 0; i < 1000; i += 1) {
      for (const one of passedOf(bench, 1)) {
        passed += 1;
        one.leave();
      }
      bench.clock.advance(1);
    }
    expect(passed).toBeLessThanOrEqual(20);
    expect(passed).toBeGreaterThanOrEqual(19);
  });

  it('admits others after those were abandoned', () => {
    const bench = shedding();
    for (let round = 0; round < 3; round += 1) {
      const passed = passedOf(bench, 10);
      expect(passed).toHaveLength(5);
      for (const one of passed) one.leave();
      bench.clock.advance(1000);
    }
  });

  it('admits others after those have expired', () => {
    const bench = shedding();
    for (let round = 0; round < 3; round += 1) {
      const answers = Array.from({ length: 10 }, () => bench.intake.admit({ ...handshake, maxWaitMs: 500 }));
      expect(answers.filter(({ admitted }) => admitted)).toHaveLength(5);
      bench.clock.advance(1000);
    }
  });

  it.each(['success', 'failure'] as const)('admits others after those have ended in %s', async (outcome) => {
    const bench = shedding();
    const { intake, clock } = bench;
    for (let round = 0; round < 3; round += 1) {
      const passed = passedOf(bench, 10);
      expect(passed).toHaveLength(5);
      // All start immediately.
      intake.update({ concurrency: 1000 });
      for (const { permit } of passed) {
        const settled = await permit;
        expect(settled.admitted).toBe(true);
        if (settled.admitted) settled.release(outcome);
      }
      intake.update({ concurrency: 1 });
      clock.advance(1000);
      fill(bench);
    }
  });

  it('admits others after those were revoked', () => {
    const bench = shedding();
    const { intake, clock } = bench;
    for (let round = 0; round < 3; round += 1) {
      expect(passedOf(bench, 10)).toHaveLength(5);
      intake.update({ concurrency: 1000, maxHandlingMs: 1000 });
      clock.advance(1000);
      intake.update({ concurrency: 1, maxHandlingMs: 86_400_000 });
      clock.advance(100);
      occupy(intake, 'slack');
      fill(bench);
    }
  });

  it('does not count one for ever that was displaced by a delivery of a listener', () => {
    const bench = createBench({ capacity: 1, concurrency: 1, overflow: 'drop-oldest', maxWaitMs: 600_000 });
    const { intake, clock } = bench;
    occupy(intake, 'slack');
    const own: Admission[] = [];
    // The handshake fills the queue, which closes the gate; then the listener's delivery displaces it.
    const unsubscribe = intake.subscribe(({ type }) => {
      if (type === 'shedding') own.push(letIn(intake.admit({ key: 'slack' })));
    });
    for (let i = 1; i <= 5; i += 1) {
      letIn(intake.admit(handshake));
      expect(intake.snapshot().totals.withdrawn.displaced).toBe(i);
      own.pop()?.leave();
      clock.advance(200);
    }
    unsubscribe();
    intake.update({ overflow: 'refuse', capacity: 100 });
    fill(bench);
    expect(passedOf(bench, 10)).toHaveLength(5);
  });
});
