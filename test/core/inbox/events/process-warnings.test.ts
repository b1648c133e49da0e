import {
  createInbox,
  type Inbox,
  type InboxOptions,
  memoryStore,
  type RawDelivery,
  verifiers,
} from '@webhook-backpressure/inbox';
import { readMetrics } from '@webhook-backpressure/observe';
import { manualClock } from '@webhook-backpressure/core/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProcessWarnings } from '@webhook-backpressure/inbox/store';
import { classAndPlaceOf } from '../../../../packages/inbox/src/events/process-warnings.ts';
import { turns } from '../inbox-bench.ts';

/** Contained in every body, header and message, so that a warning with any of them is detected. */
const SECRET = 'geheim';
const warned: [message: string, code: string][] = [];

beforeEach(() => {
  warned.length = 0;
  vi.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
    warned.push([String(message), (options as { code: string }).code]);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A `return` is missing. */
function forgetful({ headers }: RawDelivery): unknown {
  const isRight = headers['x-secret'] === SECRET;
  if (!isRight) return false;
  return undefined;
}

function silent(options: Partial<InboxOptions>): Inbox {
  const clock = manualClock();
  return createInbox({ store: memoryStore(), verify: false, process: () => undefined, clock, ...options });
}

async function deliver(inbox: Inbox, count = 3): Promise<number[]> {
  const answers: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const answer = await inbox.receive({
      headers: { 'x-secret': SECRET },
      hint: '',
      read: (body) => {
        body.add(new TextEncoder().encode(SECRET));
        return Promise.resolve('whole');
      },
    });
    await turns();
    answers.push(answer?.status ?? 0);
  }
  return answers;
}

describe('an inbox without listeners', () => {
  it('reports each reason of a verifier, since the first one may be of a scanner', async () => {
    const inbox = silent({ verify: verifiers.github({ secret: 'right' }) });
    const send = (headers: Record<string, string>): unknown =>
      inbox.receive({ headers, hint: '', read: () => Promise.resolve('whole') });
    const forged = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
    for (const headers of [{}, {}, forged, forged]) await send(headers);
    expect(warned).toEqual([
      [expect.stringContaining('The header x-hub-signature-256 is missing.'), 'WBP_VERIFY_FAILED'],
      [expect.stringContaining('The signature does not match.'), 'WBP_VERIFY_FAILED'],
    ]);
  });

  const kinds: [string, string, Partial<InboxOptions>, RegExp, number][] = [
    [
      'a ready-made verifier that rejects',
      'WBP_VERIFY_FAILED',
      { verify: verifiers.github({ secret: SECRET }) },
      /refused with 401\. The header x-hub-signature-256 is missing\. .*check the secret/,
      401,
    ],
    [
      'a verify that throws an error with a message',
      'WBP_VERIFY_FAILED',
      {
        verify: ({ text }) => {
          throw new Error(text());
        },
      },
      /refused with 401\. It threw Error at .*process-warnings\.test\.ts/,
      401,
    ],
    [
      'a verify that returns false',
      'WBP_VERIFY_FAILED',
      { verify: () => false },
      /refused with 401\. verify returned false\./,
      401,
    ],
    [
      'a bug in verify',
      'WBP_VERIFY_BROKEN',
      { verify: ({ headers }) => (headers['x-missing'] as string).split(',') },
      /It threw TypeError at .*process-warnings\.test\.ts/,
      401,
    ],
    [
      'a verify without a return',
      'WBP_VERIFY_BROKEN',
      { verify: forgetful },
      /returned nothing: a `return` is missing.*throwing\(verify\)/,
      401,
    ],
    [
      'a process that throws',
      'WBP_PROCESS_FAILED',
      { process: ({ text }) => Promise.reject(new RangeError(`bad: ${text()}`)) },
      /failed with RangeError at .*process-warnings\.test\.ts/,
      200,
    ],
    [
      'a dead delivery',
      'WBP_DELIVERY_DEAD',
      { process: ({ text }) => Promise.reject(new Error(text())), retry: { attempts: 1 } },
      /dead-letter queue/,
      200,
    ],
    [
      'a store that fails',
      'WBP_STORE_FAILED',
      { store: Object.assign(memoryStore(), { put: () => Promise.reject(new Error(SECRET)) }) },
      /call put\(\) of the store failed\./,
      503,
    ],
  ];

  it.each(kinds)('warns once, without a secret, of %s', async (_, code, options, says, status) => {
    const inbox = silent(options);
    expect(await deliver(inbox)).toEqual([status, status, status]);
    const said = warned.filter(([, given]) => given === code);
    expect(said).toEqual([[expect.stringMatching(says), code]]);
    expect(JSON.stringify(warned)).not.toContain(SECRET);
    expect(said[0]?.[0]).toMatch(
      /reported once\. .*: logEvents\(inbox, console, \{ errors: true \}\) of @webhook-backpressure\/observe\.$/,
    );
  });

  it.each(kinds)('does not warn while it has a listener: %s', async (_, _code, options) => {
    const inbox = silent(options);
    inbox.subscribe(() => undefined);
    await deliver(inbox);
    expect(warned).toEqual([]);
  });

  it.each(kinds)('warns while only metrics are read: %s', async (_, code, options) => {
    const inbox = silent(options);
    const reader = readMetrics(inbox);
    await deliver(inbox);
    expect(warned.map(([, given]) => given)).toContain(code);
    inbox.subscribe(() => undefined)();
    reader.close();
    reader.close();
    warned.length = 0;
    inbox.subscribe(() => undefined);
    await deliver(inbox);
    expect(warned).toEqual([]);
  });

  it('ignores a runtime that cannot warn', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {
      throw new Error('no warnings here');
    });
    expect(await deliver(silent({ verify: () => undefined }), 1)).toEqual([401]);
  });
});

describe('the description of an error', () => {
  it('has its class, its code and its place, and never its message', () => {
    const error = Object.assign(new TypeError(`line one\n    at ${SECRET}\n    at ${SECRET}`), {
      code: 'ERR_INVALID_ARG_TYPE',
    });
    expect(classAndPlaceOf(error)).toMatch(
      /^TypeError \(ERR_INVALID_ARG_TYPE\) at .*process-warnings\.test\.ts/,
    );
    error.message = 'changed since';
    expect(classAndPlaceOf(error)).toBe('TypeError (ERR_INVALID_ARG_TYPE)');
  });

  it.each([
    ['a string', SECRET, 'a value of the type string'],
    ['an object', { message: SECRET }, 'a value of the type object'],
    ['an odd name', Object.assign(new Error(SECRET), { name: `${SECRET} `, stack: '' }), 'an error'],
    ['an odd code', Object.assign(new Error(SECRET), { code: { SECRET }, stack: undefined }), 'Error'],
  ])('shows no part of %s', (_, thrown, said) => {
    expect(classAndPlaceOf(thrown)).toBe(said);
  });

  it('tolerates an object whose getters throw', () => {
    const error = new Error(SECRET);
    Object.defineProperty(error, 'stack', {
      get: () => {
        throw new Error(SECRET);
      },
    });
    expect(classAndPlaceOf(error)).toBe('an error');
  });

  it('goes to the console in a runtime without process warnings', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    vi.stubGlobal('process', undefined);
    new ProcessWarnings(() => false).warn('WBP_STORE_FAILED', () => 'It failed.');
    vi.unstubAllGlobals();
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^WBP_STORE_FAILED: It failed\. /)]]);
  });
});
