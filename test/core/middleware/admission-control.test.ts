import { describe, expect, it, vi } from 'vitest';
import { type AdmissionControl, createAdmissionControl } from '@webhook-backpressure/core/middleware';
import { createIntake, type MiddlewareOptions } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { control, handled, POST, reader, type Request } from './admission-controls.ts';
import { letIn, occupy, reactions, turnedAway } from '../harness.ts';

function code(expected: string, named: string): unknown {
  return expect.objectContaining({ code: expected, message: expect.stringContaining(named) as string });
}

describe('skip', () => {
  it.each([
    ['GET', true],
    ['HEAD', true],
    ['OPTIONS', true],
    ['POST', false],
    ['PUT', false],
    ['PATCH', false],
    ['DELETE', false],
    ['QUERY', false],
    ['get', false],
  ])('by default: %s %s', (method, skipped) => {
    expect(control().skips({ method })).toBe(skipped);
  });

  it('of the user decides alone, sync or async', async () => {
    expect(control({ skip: ({ method }) => method === 'POST' }).skips(POST)).toBe(true);
    expect(control({ skip: () => false }).skips({ method: 'GET' })).toBe(false);
    expect(await control({ skip: () => Promise.resolve(true) }).skips(POST)).toBe(true);
  });

  it('that fails fails for its request', async () => {
    const broken = new Error('broken');
    const throwing = control({
      skip: () => {
        throw broken;
      },
    });
    expect(() => throwing.skips(POST)).toThrow(broken);
    await expect(control({ skip: () => Promise.reject(broken) }).skips(POST)).rejects.toBe(broken);
    expect(throwing.intake.snapshot().totals.admitted).toBe(0);
  });
});

describe('what admission control reads from a request', () => {
  it('is the default key when nothing is said', () => {
    expect(handled(control(), POST)).toEqual({
      key: 'default',
      sender: undefined,
      id: undefined,
      waitedMs: 0,
    });
  });

  it('is the key that keyGenerator returns, and what delivery says overrides it', () => {
    const keyed = control({ keyGenerator: ({ headers }) => headers?.['x-shop'] ?? 'none' });
    expect(keyed.read({ method: 'POST', headers: { 'x-shop': 'a' } }).key).toBe('a');
    const both = control({
      keyGenerator: () => 'a',
      delivery: () => ({ key: 'b', id: 'evt_1', priority: 'critical' }),
    });
    expect(both.read(POST)).toMatchObject({ key: 'b', id: 'evt_1', priority: 'critical' });
    const silent = control({ keyGenerator: () => 'a', delivery: () => ({ key: undefined, id: undefined }) });
    expect(silent.read(POST).key).toBe('a');
  });

  it.each(['keyGenerator', 'delivery'])(
    'cannot be a promise of %s, whose rejection is handled',
    async (name) => {
      const unhandled = vi.fn();
      process.on('unhandledRejection', unhandled);
      const options: MiddlewareOptions<Request> = { [name]: () => Promise.reject(new Error('too late')) };
      const failing = control(options);
      expect(() => failing.read(POST)).toThrow(code('ERR_WBP_CALLBACK', name));
      await reactions();
      await new Promise((resolve) => setImmediate(resolve));
      process.off('unhandledRejection', unhandled);
      expect(unhandled).not.toHaveBeenCalled();
      expect(failing.intake.snapshot().totals.admitted).toBe(0);
    },
  );

  it.each([null, undefined])('falls back to the default key where keyGenerator returns %s', (answer) => {
    expect(control({ keyGenerator: () => answer }).read(POST).key).toBeUndefined();
    const fromStripe = { method: 'POST', headers: { 'stripe-signature': 't=1' } };
    expect(control({ keyGenerator: () => answer }).read(fromStripe).key).toBe('stripe');
  });

  it.each([5, 0, true, ['a'], { id: 'a' }, Object.create(null) as object, Symbol('a'), () => 'a'])(
    'falls back to the default key where keyGenerator returns the wrong %o, and says so once',
    (answer) => {
      const warn = vi.fn();
      const keyGenerator = (): string => answer as unknown as string;
      const wrong = createAdmissionControl<Request, []>({ keyGenerator }, { ...reader, warn });
      for (let i = 0; i < 200; i += 1) letIn(wrong.intake.admit(wrong.read({ method: 'POST' })));
      const last = wrong.admit(wrong.read(POST));
      expect(last).toMatchObject({ admitted: true, key: 'default' });
      expect(warn).toHaveBeenCalledOnce();
      expect(warn).toHaveBeenCalledWith(
        'WBP_KEY',
        expect.stringMatching(/^keyGenerator\(\) must return a string/),
      );
    },
  );

  it.each(['keyGenerator', 'delivery'])('fails when %s throws', (name) => {
    const broken = new Error('broken');
    const options: MiddlewareOptions<Request> = {
      [name]: () => {
        throw broken;
      },
    };
    expect(() => control(options).read(POST)).toThrow(broken);
  });

  it('is checked when it is admitted', () => {
    const wrong = control({ delivery: () => ({ key: 5 as unknown as string }) });
    expect(() => wrong.admit(wrong.read(POST))).toThrow(code('ERR_WBP_DELIVERY', 'delivery.key'));
    const nothing = control({ delivery: () => null as unknown as object });
    letIn(nothing.intake.admit(nothing.read(POST)));
  });

  it('tells no id that is too long', () => {
    const long = control({ delivery: () => ({ id: 'i'.repeat(257) }) });
    expect(handled(long, POST).id).toBeUndefined();
    const fitting = control({ delivery: () => ({ id: 'i'.repeat(256) }) });
    expect(handled(fitting, POST).id).toHaveLength(256);
  });
});

describe('the options of admission control', () => {
  it('make an intake of their own, or share one', () => {
    expect(control({ capacity: 7 }).intake.snapshot().capacity).toBe(7);
    const intake = createIntake({ capacity: 3 });
    const shared = [control({ intake }), control({ intake, capacity: undefined })];
    for (const { intake: one } of shared) expect(one).toBe(intake);
    letIn((shared[0] as AdmissionControl<Request>).intake.admit({}));
    expect(intake.snapshot().active).toBe(1);
  });

  it.each<[string, unknown, string, string]>([
    ['nothing', null, 'ERR_WBP_OPTIONS', 'options'],
    ['a string', 'fast', 'ERR_WBP_OPTIONS', 'options'],
    ['an unknown option', { capcity: 1 }, 'ERR_WBP_UNKNOWN_OPTION', 'capcity'],
    ['a wrong option of the intake', { capacity: 0 }, 'ERR_WBP_CAPACITY', 'capacity'],
    ['an option beside an intake', { intake: createIntake(), capacity: 5 }, 'ERR_WBP_INTAKE', 'capacity'],
    [
      'an unknown option beside an intake',
      { intake: createIntake(), capcity: 5 },
      'ERR_WBP_INTAKE',
      'capcity',
    ],
    ['an intake that is none', { intake: {} }, 'ERR_WBP_INTAKE', 'intake'],
    ['an intake that is null', { intake: null }, 'ERR_WBP_INTAKE', 'intake'],
    [
      'a middleware as intake',
      { intake: () => undefined },
      'ERR_WBP_INTAKE',
      'or the .intake of a middleware',
    ],
    ['a skip that is no function', { skip: true }, 'ERR_WBP_CALLBACK', 'skip'],
    ['a keyGenerator that is a string', { keyGenerator: 'ip' }, 'ERR_WBP_CALLBACK', 'keyGenerator'],
    ['a delivery that is an object', { delivery: {} }, 'ERR_WBP_CALLBACK', 'delivery'],
    ['an onRefused that is null', { onRefused: null }, 'ERR_WBP_CALLBACK', 'onRefused'],
    ['other standardHeaders', { standardHeaders: 'draft-7' }, 'ERR_WBP_HEADERS', 'standardHeaders'],
    ['standardHeaders that are true', { standardHeaders: true }, 'ERR_WBP_HEADERS', 'standardHeaders'],
    ['legacyHeaders that are no boolean', { legacyHeaders: 1 }, 'ERR_WBP_HEADERS', 'legacyHeaders'],
  ])('are checked: %s', (_, options, expected, named) => {
    expect(() => control(options as MiddlewareOptions<Request>)).toThrow(code(expected, named));
  });
});

describe('what the option delivery returns', () => {
  it('may have no field that is not known', () => {
    const misspelled = control({ delivery: () => ({ priorty: 'critical' }) as never });
    expect(() => misspelled.read(POST)).toThrow(code('ERR_WBP_DELIVERY', '"priorty"'));
  });

  it('is an object or nothing', () => {
    expect(() => control({ delivery: () => 'abc' as never }).read(POST)).toThrow(
      code('ERR_WBP_DELIVERY', 'an object'),
    );
    expect(control({ delivery: () => null as never }).read(POST).key).toBeUndefined();
  });
});

it('tells the handler the key that the delivery counts against', () => {
  const { key } = handled(control({ keyGenerator: () => 'x'.repeat(300) }), POST);
  expect(key).toHaveLength('hash::300'.length + 16);
});

describe('an intake that is mounted twice', () => {
  it('is passed once, since the second permit would wait for the first', () => {
    const intake = createIntake();
    const [first, second] = [control({ intake }), control({ intake })];
    const request = { method: 'POST' };
    expect(first.skips(request)).toBe(false);
    first.read(request);
    expect(second.skips(request)).toBe(true);
    expect(control().skips(request)).toBe(false);
    expect(first.skips({ method: 'POST' })).toBe(false);
  });
});

describe('the rate-limit headers', () => {
  /** An admission control whose queue has `waiting` of ten places taken, with eight as the high-water mark. */
  function filled(waiting: number, options: MiddlewareOptions<Request>): AdmissionControl<Request> {
    const guarded = control({ capacity: 10, concurrency: 1, clock: manualClock(), ...options });
    occupy(guarded.intake);
    for (let i = 0; i < waiting; i += 1) letIn(guarded.intake.admit({}));
    return guarded;
  }

  it('are none unless they are asked for', () => {
    expect(filled(3, {}).fields()).toBeUndefined();
    expect(filled(3, { standardHeaders: false, legacyHeaders: false }).fields()).toBeUndefined();
  });

  it('of drafts 8 and 11 state the places below the high-water mark', () => {
    for (const standardHeaders of ['draft-8', 'draft-11'] as const) {
      const fields = filled(3, { standardHeaders }).fields();
      expect(fields).toEqual({ 'RateLimit-Policy': '"queue";q=8', RateLimit: '"queue";r=5;t=0' });
    }
  });

  it('say that nothing is left when a delivery is refused while places are free', () => {
    const closed = filled(3, { shed: { a: true }, standardHeaders: 'draft-11' });
    const refusal = turnedAway(closed.intake.admit({ key: 'a' }));
    expect(closed.fields(refusal)).toMatchObject({ RateLimit: expect.stringContaining(';r=0;') as string });
  });

  it('of a refusal tell that nothing is left until its Retry-After', () => {
    const shedding = filled(8, { standardHeaders: 'draft-8', legacyHeaders: true });
    const refusal = turnedAway(shedding.intake.admit({}));
    const before = Math.floor(Date.now() / 1000);
    const fields = shedding.fields(refusal) ?? {};
    expect(fields).toMatchObject({
      RateLimit: `"queue";r=0;t=${String(refusal.retryAfterSeconds)}`,
      'X-RateLimit-Limit': '8',
      'X-RateLimit-Remaining': '0',
    });
    const resetS = Number(fields['X-RateLimit-Reset']);
    expect(resetS).toBeGreaterThanOrEqual(before + refusal.retryAfterSeconds);
    expect(Number.isInteger(resetS)).toBe(true);
  });

  it('tell nothing left while the queue is shedding, although places are free', () => {
    const clock = manualClock();
    const shedding = filled(8, { legacyHeaders: true, clock });
    expect(shedding.intake.snapshot().state).toBe('shedding');
    expect(shedding.fields()).toMatchObject({ 'X-RateLimit-Remaining': '0' });
  });
});
