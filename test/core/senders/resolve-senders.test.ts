import { describe, expect, it } from 'vitest';
import { BackpressureError } from '@webhook-backpressure/base';
import { builtInSenders, resolveSenders } from '@webhook-backpressure/senders';

const RIGHT = {
  name: 'acme',
  match: { header: 'X-Acme-Signature' },
  source: 'https://acme.example/webhooks',
  verifiedAt: '2026-02-28',
};

describe('the option senders', () => {
  it('is empty by default', () => {
    expect(resolveSenders(undefined)).toEqual([]);
    expect(resolveSenders([])).toEqual([]);
  });

  it('accepts all fields of the type', () => {
    const full = {
      ...RIGHT,
      match: { header: 'X-Acme', value: /^v1/gi },
      id: 'X-Acme-Id',
      timeoutMs: 0.5,
      status: 429,
      retries: { maxAttempts: 1, scheduleS: [0, 5], windowS: 10, after: [429, 503, 'timeout'] },
      retryAfter: { unit: 'ms', minSeconds: 0, maxSeconds: 0, steps: { min: 0, max: 0 } },
      handshake: { header: 'X-Acme-Hello', value: 'yes' },
      success: 204,
      switchOff: { inARow: 1, ratio: 1, minAnswers: 1, count: 1, windowS: 1, offS: [0.1, 60] },
    };
    expect(resolveSenders([full])).toEqual([
      {
        ...full,
        match: { header: 'x-acme', value: /^v1/i },
        id: 'x-acme-id',
        handshake: { header: 'x-acme-hello', value: 'yes' },
      },
    ]);
  });

  it('accepts absent and undefined optional fields', () => {
    const absent = { id: undefined, timeoutMs: undefined, retries: undefined, more: undefined };
    expect(resolveSenders([{ ...RIGHT, ...absent }])[0]?.match).toEqual({ header: 'x-acme-signature' });
    expect(resolveSenders([{ ...RIGHT, retries: 'none', retryAfter: 'ignored' }])[0]?.retries).toBe('none');
    expect(resolveSenders([{ ...RIGHT, retries: {}, handshake: { value: 'x' } }])).toHaveLength(1);
    expect(resolveSenders([{ ...RIGHT, switchOff: { count: 9, windowS: 60 } }])).toHaveLength(1);
    expect(resolveSenders([{ ...RIGHT, switchOff: { inARow: 4 } }])).toHaveLength(1);
  });

  it('is copied', () => {
    const given = { ...RIGHT, match: { header: 'x-a' } };
    const [resolved] = resolveSenders([given]);
    given.match.header = 'x-b';
    given.name = 'other';
    expect(resolved).toMatchObject({ name: 'acme', match: { header: 'x-a' } });
  });

  it('accepts the built-in profiles unchanged', () => {
    expect(resolveSenders(builtInSenders)).toEqual(builtInSenders);
  });

  it.each<[string, unknown]>([
    ['senders', {}],
    ['senders', null],
    ['senders', 'github'],
    ['senders[0]', [null]],
    ['senders[0]', [undefined]],
    // A sparse array.
    ['senders[0]', new Array(1)],
    ['senders[1].name', [RIGHT, { ...RIGHT, name: '' }]],
  ])('must be an array of objects: %s', (at, given) => {
    expectError(at, () => resolveSenders(given));
  });

  it.each<[string, Record<string, unknown>]>([
    ['name', { name: 7 }],
    ['name', { name: ' ' }],
    ['match', { match: undefined }],
    ['match', { match: 'x-acme' }],
    ['match', { match: 'All' }],
    ['match.header', { match: {} }],
    ['match.header', { match: { header: 'two words' } }],
    ['match.header', { match: { header: '' } }],
    ['match.value', { match: { header: 'x-a', value: '' } }],
    ['match.value', { match: { header: 'x-a', value: 1 } }],
    ['match', { match: { header: 'x-a', pattern: /x/ } }],
    ['id', { id: 'x: y' }],
    ['id', { id: null }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: '3s' }],
    ['timeoutMs', { timeoutMs: Infinity }],
    ['status', { status: 500 }],
    ['status', { status: '429' }],
    ['retries', { retries: 'never' }],
    ['retries', { retries: false }],
    ['retries.maxAttempts', { retries: { maxAttempts: 0 } }],
    ['retries.maxAttempts', { retries: { maxAttempts: 1.5 } }],
    ['retries.scheduleS', { retries: { scheduleS: [1, -1] } }],
    ['retries.scheduleS', { retries: { scheduleS: 5 } }],
    ['retries.scheduleS', { retries: { scheduleS: [NaN] } }],
    ['retries.scheduleS', { retries: { scheduleS: [] } }],
    ['retries.scheduleS', { retries: { scheduleS: new Array(1) } }],
    ['retries.windowS', { retries: { windowS: 0 } }],
    ['retries.after', { retries: { after: [] } }],
    ['retries.after', { retries: { after: [500] } }],
    ['retries.after', { retries: { after: '429' } }],
    ['status', { status: 429, retries: { after: [503, 'timeout'] } }],
    ['retries', { retries: { attempts: 3 } }],
    ['retryAfter', { retryAfter: 's' }],
    ['retryAfter.unit', { retryAfter: {} }],
    ['retryAfter.unit', { retryAfter: { unit: 'min' } }],
    ['retryAfter.minSeconds', { retryAfter: { unit: 's', minSeconds: -1 } }],
    ['retryAfter.maxSeconds', { retryAfter: { unit: 's', minSeconds: 5, maxSeconds: 4 } }],
    ['retryAfter.steps', { retryAfter: { unit: 's', steps: 2 } }],
    ['retryAfter.steps.min', { retryAfter: { unit: 's', steps: { max: 2 } } }],
    ['retryAfter.steps.min', { retryAfter: { unit: 's', steps: { min: -1, max: 2 } } }],
    ['retryAfter.steps.max', { retryAfter: { unit: 's', steps: { min: 1 } } }],
    ['retryAfter.steps.max', { retryAfter: { unit: 's', steps: { min: 2, max: 1 } } }],
    ['handshake', { handshake: {} }],
    ['handshake.header', { match: 'all', handshake: { value: 'hello' } }],
    ['handshake', { handshake: true }],
    ['handshake.value', { handshake: { value: 1 } }],
    ['success', { success: 302 }],
    ['success', { success: 200.5 }],
    ['switchOff', { switchOff: {} }],
    ['switchOff', { switchOff: { windowS: 60 } }],
    ['switchOff', { switchOff: { offS: [60] } }],
    ['switchOff.windowS', { switchOff: { ratio: 0.9 } }],
    ['switchOff.windowS', { switchOff: { inARow: 4, count: 9 } }],
    ['switchOff.windowS', { switchOff: { inARow: 4, windowS: 60 } }],
    ['switchOff.count', { switchOff: { count: 1.5, windowS: 60 } }],
    ['switchOff.minAnswers', { switchOff: { ratio: 0.9, windowS: 60, minAnswers: 0 } }],
    ['switchOff.minAnswers', { switchOff: { count: 9, windowS: 60, minAnswers: 9 } }],
    ['switchOff.offS', { switchOff: { inARow: 4, offS: 60 } }],
    ['switchOff.offS', { switchOff: { inARow: 4, offS: [] } }],
    ['switchOff.offS', { switchOff: { inARow: 4, offS: [60, 0] } }],
    ['switchOff', { switchOff: 4 }],
    ['switchOff.inARow', { switchOff: { inARow: 0 } }],
    ['switchOff.ratio', { switchOff: { ratio: 1.1, windowS: 60 } }],
    ['source', { source: '' }],
    ['source', { source: undefined }],
    ['verifiedAt', { verifiedAt: undefined }],
    ['verifiedAt', { verifiedAt: '20.11.2026' }],
    ['verifiedAt', { verifiedAt: '2026-02-30' }],
    ['verifiedAt', { verifiedAt: new Date(0) }],
    ['', { timeout: 3000 }],
  ])('must have a valid %s: %j', (field, wrong) => {
    const at = field === '' ? 'senders[0]' : `senders[0].${field}`;
    expectError(at, () => resolveSenders([{ ...RIGHT, ...wrong }]));
  });
});

describe('a profile that matches every request', () => {
  const all = { ...RIGHT, match: 'all' };

  it('may be the last one', () => {
    expect(resolveSenders([all])).toHaveLength(1);
    expect(resolveSenders([RIGHT, all])).toHaveLength(2);
  });

  it.each([
    [
      [all, RIGHT],
      'senders[1] never matches, because senders[0] matches every request. List senders[0] last.',
    ],
    [[RIGHT, all, all], 'senders[2] never matches, because senders[1] matches every request.'],
  ])('must be the last one', (given, sentence) => {
    expect(() => resolveSenders(given)).toThrow(expect.objectContaining({ code: 'ERR_WBP_SENDERS' }));
    expect(() => resolveSenders(given)).toThrow(sentence);
  });
});

function expectError(at: string, run: () => unknown): void {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(BackpressureError);
  const { code, message } = thrown as BackpressureError;
  expect(code).toBe('ERR_WBP_SENDERS');
  expect(message.startsWith(`${at} must be `) || /^Unknown field "[^"]*" in /.test(message), message).toBe(
    true,
  );
  expect(message).toContain(at);
}
