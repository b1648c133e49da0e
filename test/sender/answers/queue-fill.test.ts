import { describe, expect, it } from 'vitest';
import type { IntakeGlance } from '../../../packages/core/src/delivery/snapshot.ts';
import { rateLimitFields } from '../../../packages/core/src/refusals/rate-limit-fields.ts';
import { queueFill } from '../../../packages/sender/src/answers/rate-hints.ts';

function read(headers: Readonly<Record<string, string>>): number | undefined {
  const names = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return queueFill((name) => names.get(name));
}

describe('the fill of the queue', () => {
  it.each([
    [0, 0],
    [200, 0.25],
    [800, 1],
    [900, 1],
  ])('is read from what our receiver sends at a depth of %i', (depth, fill) => {
    // Of the other fields, the headers use none.
    const glance = { state: 'accepting', highWater: 800, drainRate: 100, depth } as IntakeGlance;
    expect(read(rateLimitFields(glance, { standard: true, legacy: false }, undefined))).toBe(fill);
  });

  it('is never below 0', () => {
    expect(read({ 'RateLimit-Policy': '"queue";q=100', RateLimit: '"queue";r=200;t=1' })).toBe(0);
  });

  it.each([
    { RateLimit: '"queue";r=5;t=1' },
    { 'RateLimit-Policy': '"queue";q=10' },
    { 'RateLimit-Policy': '"hour";q=10', RateLimit: '"hour";r=5;t=1' },
    { 'RateLimit-Policy': '"queue";q=0', RateLimit: '"queue";r=0;t=1' },
    { 'RateLimit-Policy': '"queue";q=x', RateLimit: '"queue";r=-1;t=1' },
  ])('is unknown with %j', (headers) => {
    expect(read(headers)).toBeUndefined();
  });
});
