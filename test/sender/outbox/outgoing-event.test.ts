import { BackpressureError } from '@webhook-backpressure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OutgoingEvent } from '@webhook-backpressure/sender';
import { storedEvent } from '../../../packages/sender/src/outbox/outgoing-event.ts';
import {
  batchContent,
  BYTES_OF_BATCH,
  bytesInBatch,
  eventContent,
} from '../../../packages/sender/src/requests/request-content.ts';

const AT_MS = Date.UTC(2026, 10, 22, 20, 0, 0, 5);
const MIB = 1024 * 1024;
const EVENT: OutgoingEvent = { endpoint: 'ep_1', type: 'order.updated', data: { id: 7 } };
const decoder = new TextDecoder('utf-8', { fatal: true });

function stored(changes: Partial<Record<keyof OutgoingEvent, unknown>> = {}) {
  return storedEvent({ ...EVENT, ...changes } as OutgoingEvent, MIB, AT_MS);
}

function errorOf(event: unknown): BackpressureError {
  try {
    storedEvent(event as OutgoingEvent, MIB, AT_MS);
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return error as BackpressureError;
  }
  throw new Error('It was accepted.');
}

function bodyOf({ body }: { readonly body: Uint8Array }): unknown {
  return JSON.parse(decoder.decode(body)) as unknown;
}

const circular: Record<string, unknown> = {};
circular['self'] = circular;

describe('an event', () => {
  it('gets an id and has the type, the time and the data in its request', () => {
    const event = stored();
    expect(event).toMatchObject({ key: 'ep_1', isIdGenerated: true, receivedAtMs: AT_MS });
    expect(event.id).toMatch(/^msg_[0-9a-f-]{36}$/);
    const request = eventContent(event);
    expect(decoder.decode(request.body)).toBe(
      '{"type":"order.updated","timestamp":"2026-11-22T20:00:00.005Z","data":{"id":7}}',
    );
    expect(request.headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'webhook-backpressure',
    });
    expect(request.id).toBe(event.id);
  });

  it('has the same bytes when it is sent again later, so that it is no conflict', () => {
    const again = storedEvent({ ...EVENT, id: 'evt_1' }, MIB, AT_MS + 5000);
    expect(again.rawBody).toEqual(stored({ id: 'evt_1' }).rawBody);
    expect(again.isIdGenerated).toBe(false);
  });

  it('keeps any text, also in batches', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
    const event = fc.record({ type: text, data: fc.jsonValue({ maxDepth: 3 }), id: fc.uuid() });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), (events) => {
        const all = events.map((one) => stored(one));
        const timestamp = new Date(AT_MS).toISOString();
        const sent = events.map(({ type, data }) => {
          return { type, timestamp, data: JSON.parse(JSON.stringify(data)) as unknown };
        });
        expect(all.map((one) => bodyOf(eventContent(one)))).toEqual(sent);
        const [first, ...others] = all;
        if (first === undefined) return;
        const batch = batchContent('batch_1', [first, ...others]);
        expect(bodyOf(batch)).toEqual({ events: sent.map((one, at) => ({ id: events[at]?.id, ...one })) });
        const bytes = all.reduce((sum, one) => sum + bytesInBatch(one), BYTES_OF_BATCH);
        expect(batch.body.byteLength).toBe(bytes);
      }),
      { seed: 1, numRuns: 80 },
    );
  });

  it.each([['\\'], ['"'], ['\\"'], ['"data":'], ['\\\\"'], ['}'], ['\u2028\ud800'], ['😀"']])(
    'finds the end of the type %j',
    (type) => {
      expect(bodyOf(eventContent(stored({ type })))).toMatchObject({ type, data: { id: 7 } });
    },
  );

  it.each([
    [{ endpoint: '__proto__' }],
    [{ endpoint: 'constructor' }],
    [{ endpoint: ' ' }],
    [{ id: 'evt-1_2/3:4' }],
    [{ id: '"\\' }],
    [{ id: 'x'.repeat(256) }],
    [{ data: null }],
    [{ data: 0 }],
    [{ data: 'text' }],
    [{ data: [] }],
    [{ data: { absent: undefined } }],
    [{ data: { lone: '\ud800' } }],
    [{ data: 'x'.repeat(MIB - 100) }],
    [{ headers: {} }],
    [{ headers: undefined }],
  ])('may have %o', (changes) => {
    const event = stored(changes);
    expect(bodyOf(eventContent(event))).toMatchObject({ type: 'order.updated' });
    if ('endpoint' in changes) expect(event.key).toBe(changes.endpoint);
  });

  it('keeps a field that is named __proto__', () => {
    const data: unknown = JSON.parse('{"__proto__":{"isAdmin":true}}');
    expect(decoder.decode(eventContent(stored({ data })).body)).toContain('{"__proto__":{"isAdmin":true}}');
  });

  it.each([
    ['endpoint', ''],
    ['endpoint', 'x'.repeat(257)],
    ['endpoint', 7],
    ['endpoint', undefined],
    ['type', ''],
    ['type', 'x'.repeat(257)],
    ['type', null],
    ['id', ''],
    ['id', 'all'],
    ['id', 'evt.1'],
    ['id', 'evt 1'],
    ['id', 'evt\n1'],
    ['id', 'ä'],
    ['id', 'x'.repeat(257)],
    ['id', 7],
    ['id', null],
    ['data', undefined],
    ['data', 10n],
    ['data', Number.NaN],
    ['data', Infinity],
    ['data', () => 1],
    ['data', Symbol('x')],
    ['data', new Date(0)],
    ['data', new Map()],
    ['data', Promise.resolve(1)],
    ['data', circular],
    ['data', { deep: { bigint: 1n } }],
    ['headers', 'x-a: b'],
    ['headers', ['x-a']],
    ['headers', null],
  ])('is refused with the %s %o', (field, value) => {
    const error = errorOf({ ...EVENT, [field]: value });
    expect(error.code).toBe('ERR_WBP_EVENT');
    expect(error.message).toContain(field);
  });

  it('names the field of the data that is no JSON', () => {
    expect(errorOf({ ...EVENT, data: { items: [{ price: 10n }] } }).message).toContain('data.items[0].price');
  });

  it('is refused when a getter throws, with the reason', () => {
    const data = {
      get total(): number {
        throw new Error('boom');
      },
    };
    const error = errorOf({ ...EVENT, data });
    expect(error.code).toBe('ERR_WBP_EVENT');
    expect((error.cause as Error).message).toBe('boom');
  });

  it('is stored as JSON, whatever a getter returns when it is read again', () => {
    const returning = (...values: unknown[]): unknown => ({
      get total(): unknown {
        return values.shift();
      },
    });
    const data = returning(1, () => 1);
    expect(bodyOf(eventContent(stored({ data })))).toMatchObject({ data: {} });
    expect(errorOf({ ...EVENT, data: returning(1, 2n) }).code).toBe('ERR_WBP_EVENT');
    expect(errorOf({ ...EVENT, data: returning(1, circular) }).code).toBe('ERR_WBP_EVENT');
  });

  it.each([[undefined], [null], ['event'], [[EVENT]]])('is no %o', (event) => {
    expect(errorOf(event).code).toBe('ERR_WBP_EVENT');
  });

  it('has no other fields', () => {
    expect(errorOf({ ...EVENT, payload: {} }).code).toBe('ERR_WBP_UNKNOWN_OPTION');
  });

  it('is refused above the limit of bytes, not of characters', () => {
    expect(errorOf({ ...EVENT, data: 'x'.repeat(2 * MIB) }).code).toBe('ERR_WBP_EVENT_SIZE');
    expect(errorOf({ ...EVENT, data: '😀'.repeat(MIB / 4) }).code).toBe('ERR_WBP_EVENT_SIZE');
  });

  it.each([[-5], [1e300]])('gets a time that has a date when the clock returns %d', (atMs) => {
    const event = storedEvent(EVENT, MIB, atMs);
    expect(() => eventContent(event)).not.toThrow();
  });
});

describe('a header of an event', () => {
  it('has a name in lower case, and replaces the default', () => {
    const event = stored({ headers: { 'X-Tenant': ' a b\tc ', 'User-Agent': 'shop/1', Absent: undefined } });
    expect(eventContent(event).headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'shop/1',
      'x-tenant': 'a b\tc',
    });
  });

  it('may be named __proto__', () => {
    const headers = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    expect(Object.entries(stored({ headers }).headers)).toEqual([['__proto__', 'x']]);
  });

  it.each([
    [{ 'webhook-id': 'x' }],
    [{ 'Webhook-Signature': 'x' }],
    [{ Host: 'x' }],
    [{ 'Content-Length': '5' }],
    [{ 'content-type': 'text/plain' }],
    [{ 'Transfer-Encoding': 'chunked' }],
    [{ connection: 'close' }],
    [{ 'proxy-authorization': 'x' }],
    [{ expect: '100-continue' }],
    [{ '': 'x' }],
    [{ 'x y': 'x' }],
    [{ 'x\r\ny': 'x' }],
    [{ 'x:y': 'x' }],
    [{ ':path': '/' }],
    [{ 'x-ä': 'x' }],
    [{ 'x-a': 'b\r\nwebhook-id: 1' }],
    [{ 'x-a': 'b\nc' }],
    [{ 'x-a': '\0' }],
    [{ 'x-a': 'ä' }],
    [{ 'x-a': 7 }],
    [{ 'x-a': null }],
    [{ 'x-a': ['b', 'c'] }],
    [{ 'x-a': 'b', 'X-A': 'c' }],
  ])('is refused: %j', (headers) => {
    expect(errorOf({ ...EVENT, headers }).code).toBe('ERR_WBP_EVENT');
  });

  it('is refused beyond 50 headers, or 8,192 characters', () => {
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${String(at)}`, '']));
    expect(errorOf({ ...EVENT, headers: many(51) }).message).toContain('51');
    expect(errorOf({ ...EVENT, headers: { 'x-a': 'x'.repeat(8192) } }).message).toContain('8195');
    expect(Object.keys(stored({ headers: many(50) }).headers)).toHaveLength(50);
  });

  it('is not repeated in an error, because it may be a token', () => {
    expect(errorOf({ ...EVENT, headers: { authorization: 'Bearer hunter2\n' } }).message).not.toContain(
      'hunter2',
    );
  });
});
