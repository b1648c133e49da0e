import { describe, expect, it } from 'vitest';
import { BackpressureError } from '@webhook-backpressure/base';
import { asksPermission, cloudEventsHandshake } from '@webhook-backpressure/senders';
import { createIntake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';

const ORIGIN = 'eventemitter.example.com';
const asks = { 'webhook-request-origin': ORIGIN, 'webhook-request-rate': '120' };

function intakeWith(drainRate: number | null): Parameters<typeof cloudEventsHandshake>[0] {
  const snapshot = { ...createIntake().snapshot(), drainRate };
  return { snapshot: () => snapshot };
}

function allowedRate(drainRate: number | null): string | undefined {
  return cloudEventsHandshake(intakeWith(drainRate))(asks).headers['WebHook-Allowed-Rate'];
}

describe('the CloudEvents handshake', () => {
  it('allows the drain rate, in requests per minute', () => {
    expect(cloudEventsHandshake(intakeWith(10))(asks)).toEqual({
      status: 200,
      body: '',
      headers: { Allow: 'POST', 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '600' },
    });
  });

  it('allows any rate while the drain rate is unknown', () => {
    expect(allowedRate(null)).toBe('*');
  });

  it.each([
    [0, '1'],
    [0.001, '1'],
    [0.0999, '5'],
    [1.5, '90'],
    [1e300, String(Number.MAX_SAFE_INTEGER)],
  ])('allows an integer of at least 1: %d/s gives %s', (drainRate, rate) => {
    expect(allowedRate(drainRate)).toBe(rate);
  });

  it('reads the rate from the intake', () => {
    const clock = manualClock();
    const intake = createIntake({ clock, concurrency: 1 });
    expect(cloudEventsHandshake(intake)(asks).headers['WebHook-Allowed-Rate']).toBe('*');
    for (let i = 0; i < 100; i += 1) {
      const place = intake.admit();
      clock.advance(50);
      if (place.admitted && 'release' in place.permit) place.permit.release();
    }
    const rate = Number(cloudEventsHandshake(intake)(asks).headers['WebHook-Allowed-Rate']);
    expect(rate).toBeGreaterThanOrEqual(1150);
    expect(rate).toBeLessThanOrEqual(1250);
  });

  it.each([
    ['OPTIONS', asks, true],
    ['POST', asks, false],
    [undefined, asks, false],
    ['OPTIONS', { origin: 'https://example.com', 'access-control-request-method': 'POST' }, false],
  ])('is a request of %s with %j: %s', (method, headers, isOne) => {
    expect(asksPermission(method, headers)).toBe(isOne);
  });

  it.each([
    ['a list', ['other.example.com', 'EventEmitter.example.com']],
    ['a function', (origin: string) => origin.endsWith('.example.com')],
  ])('echoes an origin that is allowed by %s', (_, allowedOrigins) => {
    const answer = cloudEventsHandshake(intakeWith(10), allowedOrigins)(asks);
    expect(answer.status).toBe(200);
    expect(answer.headers['WebHook-Allowed-Origin']).toBe(ORIGIN);
  });

  it.each([
    ['an empty list', []],
    ['a list without it', ['example.com', '*.example.com']],
    ['a function', () => false],
    ['an async function', (() => Promise.resolve(true)) as unknown as () => boolean],
  ])('is denied by %s, without permission headers', (_, allowedOrigins) => {
    expect(cloudEventsHandshake(intakeWith(10), allowedOrigins)(asks)).toEqual({
      status: 403,
      headers: { Allow: 'POST' },
      body: '',
    });
  });

  it.each([
    ['empty', ''],
    ['with a line break', 'a\r\nSet-Cookie: b=c'],
    ['with a space', 'a b'],
    ['too long', 'a'.repeat(254)],
  ])('denies an origin that is %s', (_, origin) => {
    const answer = cloudEventsHandshake(intakeWith(10), () => true)({ 'webhook-request-origin': origin });
    expect(answer.status).toBe(403);
  });

  it('uses the first of several origins', () => {
    const headers = { 'webhook-request-origin': [ORIGIN, 'other.example.com'] };
    const answer = cloudEventsHandshake(intakeWith(10), [ORIGIN])(headers);
    expect(answer.headers['WebHook-Allowed-Origin']).toBe(ORIGIN);
  });

  it.each([42, 'example.com', [1], null, {}])('throws for invalid allowedOrigins: %j', (allowedOrigins) => {
    const call = (): unknown => cloudEventsHandshake(intakeWith(10), allowedOrigins as '*');
    expect(call).toThrow(BackpressureError);
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_WBP_ORIGINS' }));
  });
});
