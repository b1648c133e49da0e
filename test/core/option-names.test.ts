import { createInbox, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { createIntake } from '@webhook-backpressure/core';
import { webhookBackpressure as forExpress } from '@webhook-backpressure/express';
import { webhookBackpressure as forHono } from '@webhook-backpressure/hono';
import { webhookBackpressure as forKoa } from '@webhook-backpressure/koa';
import { withBackpressure } from '@webhook-backpressure/node';
import { createSender } from '@webhook-backpressure/sender';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

/** Suggestions are for mistyped names, so these options do not have the right type. */
function intake(options: object): () => unknown {
  return () => createIntake(options);
}

describe('an unknown option', () => {
  it.each<[string, () => unknown, string]>([
    [
      'a letter left out',
      intake({ concurency: 5 }),
      'Unknown option "concurency". Did you mean "concurrency"?',
    ],
    ['letters swapped', intake({ capactiy: 5 }), 'Did you mean "capacity"?'],
    ['another case', intake({ maxwaitms: 5 }), 'Did you mean "maxWaitMs"?'],
    ['the unit left out', intake({ maxWait: 5 }), 'Did you mean "maxWaitMs"?'],
    [
      'of a nested object',
      intake({ retryAfter: { maxSecond: 5 } }),
      'in retryAfter. Did you mean "maxSeconds"?',
    ],
    [
      'of a range',
      intake({ maxStartsPerSecond: { min: 1, max: 2, targetP99: 5 } }),
      'Did you mean "targetP99Ms"?',
    ],
    [
      'of an update',
      () => {
        createIntake().update({ capasity: 5 } as object);
      },
      'in update(). Did you mean "capacity"?',
    ],
    [
      'of the middleware',
      () => forExpress({ keyGenrator: () => '' } as object),
      'Did you mean "keyGenerator"?',
    ],
    [
      'of an inbox',
      () =>
        createInbox({ store: memoryStore(), process: () => 0, verify: false, retentionM: 5 } as InboxOptions),
      'Did you mean "retentionMs"?',
    ],
    [
      'of the SQLite store',
      () => sqliteStore({ path: 'x', busyTimeout: 5 } as never),
      'Did you mean "busyTimeoutMs"?',
    ],
  ])('is answered with the nearest known one: %s', (_case, action, words) => {
    expect(messageOf(action)).toContain(words);
  });

  it('is answered with the known one alone', () => {
    expect(messageOf(intake({ concurency: 5 }))).toMatch(/^Unknown option .*"concurrency"\? \(ERR_WBP_/);
  });

  it.each<[string, (options: never) => unknown, readonly [string, string][]]>([
    [
      'the middleware',
      forExpress,
      [
        ['max', 'concurrency" or "capacity'],
        ['limit', 'concurrency" or "capacity'],
        ['size', 'capacity'],
        ['queueLimit', 'capacity'],
        ['concurrent', 'concurrency'],
        ['maxConcurrent', 'concurrency'],
        ['windowMs', 'maxStartsPerSecond'],
        ['rate', 'maxStartsPerSecond'],
        ['timeout', 'maxWaitMs" or "maxHandlingMs'],
        ['handler', 'onRefused'],
      ],
    ],
    [
      'an inbox',
      (options) =>
        createInbox({ store: memoryStore(), process: () => 0, verify: false, ...(options as object) }),
      [
        ['timeout', 'maxWaitMs" or "maxHandlingMs'],
        ['maxRetries', 'retry.attempts'],
        ['retries', 'retry.attempts'],
        ['attempts', 'retry.attempts'],
        ['backoff', 'retry.firstDelayMs'],
      ],
    ],
    [
      'a sender',
      (options) => createSender({ store: memoryStore(), endpoint: () => null, ...(options as object) }),
      [
        ['timeout', 'timeoutMs'],
        ['concurrency', 'defaults.maxInFlight'],
        ['rate', 'defaults.rate'],
        ['retries', 'retry.attempts'],
      ],
    ],
    [
      'the retries of an inbox',
      (retry) => createInbox({ store: memoryStore(), process: () => 0, verify: false, retry }),
      [
        ['maxRetries', 'attempts'],
        ['backoff', 'firstDelayMs'],
      ],
    ],
    ['retryAfter', (retryAfter) => createIntake({ retryAfter }), [['max', 'maxSeconds']]],
  ])('of another library is answered with ours: %s', (_name, make, pairs) => {
    for (const [theirs, ours] of pairs) {
      expect(messageOf(() => make({ [theirs]: 5 } as never))).toContain(`Did you mean "${ours}"? (ERR_WBP_`);
    }
  });

  it('is answered with all names when none is near', () => {
    expect(messageOf(intake({ retryAfter: { banana: 5 } }))).toMatch(
      /^Unknown option "banana" in retryAfter\. Known options: strategy, minSeconds, maxSeconds\. \(ERR_WBP_/,
    );
    expect(messageOf(intake({ ['concurrency'.repeat(1000)]: 5 }))).not.toContain('Did you mean');
  });

  it('may be named like a member of every object', () => {
    expect(messageOf(intake(JSON.parse('{"__proto__":5}') as object))).toContain(
      'Unknown option "__proto__"',
    );
    expect(messageOf(intake({ constructor: 5 }))).toContain('Unknown option "constructor"');
  });
});

describe('options that are none', () => {
  const makers: [string, (options: never) => unknown][] = [
    ['Express', forExpress],
    ['Koa', forKoa],
    ['Hono', forHono],
    ['node:http', (options) => withBackpressure(() => undefined, options)],
    ['an intake', createIntake],
    ['an inbox', createInbox],
  ];

  it.each(makers)('null: %s', (_name, make) => {
    expect(messageOf(() => make(null as never))).toMatch(/^options must be an object, but was null\./);
  });

  it.each(makers)(
    'the request of a framework, when the function was mounted uncalled: %s',
    async (_name, make) => {
      const hint = 'Mount what the function returns';
      const node = Object.create({ headers: {}, method: 'POST' }) as never;
      expect(messageOf(() => make(node))).toContain(hint);
      expect(messageOf(() => make({ req: {}, res: {} } as never))).toContain(hint);
      const app = new Hono();
      let message = '';
      app.all('/', (c) => {
        message = messageOf(() => make(c as never));
        return c.body(null);
      });
      await app.request('/');
      expect(message).toContain(hint);
    },
  );

  it.each(makers)('an intake instead of the option `intake`: %s', (_name, make) => {
    expect(messageOf(() => make(createIntake() as never))).toMatch(
      /^options must be an object of options, but was an intake\. Pass it as the option `intake`: /,
    );
  });
});
