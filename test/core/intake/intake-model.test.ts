import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Delivery, IntakeOptions, Tunable } from '@webhook-backpressure/core';
import { IntakeModel } from './intake-model.ts';

interface Command {
  /** Its text in a counterexample. */
  [fc.toStringMethod](): string;
  run(model: IntakeModel): void | Promise<void>;
}

function command(text: string, run: Command['run']): Command {
  return { [fc.toStringMethod]: () => text, run };
}

function pick<T>(from: readonly T[], at: number): T | undefined {
  return from[at % Math.max(1, from.length)];
}

const key = fc.constantFrom(undefined, 'a', 'b', 'c', 'd', '', '__proto__', 'constructor');
const index = fc.nat(1000);

const delivery: fc.Arbitrary<Delivery> = fc.record({
  key,
  priority: fc.constantFrom(undefined, undefined, undefined, 'critical'),
  retries: fc.constantFrom(undefined, undefined, true, false),
  maxWaitMs: fc.constantFrom(undefined, undefined, undefined, 0, 70, 333, 5000),
});

const admit = delivery.map((one) => command(`admit ${JSON.stringify(one)}`, (model) => model.admit(one)));

const release = fc.tuple(index, fc.constantFrom('success', 'failure')).map(([at, outcome]) =>
  command(`release ${String(at)} ${outcome}`, (model) => {
    const ticket = pick(model.active, at);
    if (ticket !== undefined) model.release(ticket, outcome);
  }),
);

const releaseAgain = index.map((at) =>
  command(`release again ${String(at)}`, (model) => {
    const result = pick(model.finished, at)?.result;
    if (result?.admitted === true) result.release('failure');
  }),
);

const leave = fc.tuple(index, fc.boolean()).map(([at, isWaiting]) =>
  command(`leave ${String(at)} ${isWaiting ? 'waiting' : 'not waiting'}`, (model) => {
    const ticket = pick(isWaiting ? model.waiting.all : [...model.active, ...model.finished], at);
    if (ticket !== undefined) model.leave(ticket);
  }),
);

const advance = fc.oneof(fc.nat(20), fc.nat(400), fc.nat(8000)).map((ms) =>
  command(`advance ${String(ms)}`, async (model) => {
    // Step by step, so that the effects of a timer are checked before the next timer.
    for (let left = ms; left > 0; left -= 50) {
      model.bench.clock.advance(Math.min(50, left));
      await model.check();
    }
  }),
);

const jump = fc
  .integer({ min: -20_000, max: 20_000 })
  .map((ms) => command(`jump ${String(ms)}`, (model) => model.jump(ms)));

const tunable: fc.Arbitrary<Tunable> = fc.oneof(
  fc.record({ capacity: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ concurrency: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ maxStartsPerSecond: fc.constantFrom(4, 20, 333) }),
  fc.record({ maxConcurrencyPerKey: fc.constantFrom(1, 2, 0.5, 100) }),
  fc.constantFrom<Tunable>(
    { highWaterMark: 1 },
    { highWaterMark: 0.6, lowWaterMark: 0.1 },
    { lowWaterMark: 0.3 },
  ),
  fc.record({ maxWaitMs: fc.constantFrom(200, 1000, 10_000), maxHandlingMs: fc.constantFrom(100, 3000) }),
  fc.record({ shed: fc.constantFrom({}, { a: true, b: false }) }),
  fc.record({ overflow: fc.constantFrom('refuse', 'drop-oldest') }),
);

const update = tunable.map((changes) =>
  command(`update ${JSON.stringify(changes)}`, (model) => {
    model.update(changes);
  }),
);

const close = fc.constant(
  command('close', (model) => {
    model.close(1000);
  }),
);

const commands = fc.array(
  fc.oneof(
    { weight: 60, arbitrary: admit },
    { weight: 30, arbitrary: release },
    { weight: 4, arbitrary: releaseAgain },
    { weight: 8, arbitrary: leave },
    { weight: 12, arbitrary: advance },
    { weight: 3, arbitrary: jump },
    { weight: 6, arbitrary: update },
    { weight: 1, arbitrary: close },
  ),
  { maxLength: 120, size: 'max' },
);

describe('an intake, with any operations in any order,', { timeout: 30_000 }, () => {
  it.each<[string, IntakeOptions]>([
    ['with a small queue', {}],
    ['with a capacity of one', { capacity: 1, concurrency: 1 }],
    ['with a larger queue', { capacity: 40, concurrency: 3, maxWaitMs: 2000 }],
    ['when it drops the oldest', { overflow: 'drop-oldest' }],
    ['when starts are paced', { maxStartsPerSecond: 20, concurrency: 4 }],
    ['when a key may have one worker', { maxConcurrencyPerKey: 1, concurrency: 3 }],
    ['when a key may have a part of the workers', { maxConcurrencyPerKey: 0.5, concurrency: 5 }],
    ['when it books', { retryAfter: { strategy: 'booked' }, capacity: 12 }],
    ['when handlings are cut off', { maxHandlingMs: 120, maxWaitMs: 300 }],
  ])('keeps every rule %s', async (_, options) => {
    const property = fc.asyncProperty(commands, async (script) => {
      const model = new IntakeModel(options);
      for (const step of script) {
        await step.run(model);
        await model.check();
      }
      await model.finish();
    });
    await fc.assert(property, { numRuns: 20, seed: 20_261_120 });
  });
});
