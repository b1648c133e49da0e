import { createIntake } from '@webhook-backpressure/core';
import { logEvents } from '@webhook-backpressure/observe';
import { manualClock } from '@webhook-backpressure/core/testing';
import { pino } from 'pino';
import { expect, it } from 'vitest';

it('writes lines of JSON with a level, a message and fields through pino', () => {
  const lines: unknown[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  const clock = manualClock();
  const intake = createIntake({ clock, capacity: 1, highWaterMark: 1, concurrency: 1 });
  logEvents(intake, logger.child({ app: 'shop' }), { name: 'orders', clock });
  for (let i = 0; i < 5; i += 1) intake.admit({ key: '\u001b[31m\n' });
  clock.advance(1000);
  expect(lines).toEqual([
    {
      level: 40,
      app: 'shop',
      event: 'shedding',
      intake: 'orders',
      depth: 1,
      msg: 'The intake has begun to shed, at a depth of 1.',
    },
    {
      level: 40,
      app: 'shop',
      event: 'refused',
      intake: 'orders',
      seconds: 1,
      count: 3,
      reason: { full: 3 },
      status: { 429: 3 },
      maxRetryAfterSeconds: expect.any(Number) as number,
      keys: [{ key: '\u001b[31m\n', count: 3 }],
      otherKeys: 0,
      msg: 'Deliveries refused in 1 s: 3 (3 full).',
    },
  ]);
});
