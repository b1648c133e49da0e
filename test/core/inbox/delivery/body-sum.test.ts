import { areOtherBodies, bodySum } from '@webhook-backpressure/inbox/store';
import { expect, it } from 'vitest';

const sum = (rawBody: Uint8Array): number => bodySum({ rawBody });

it('is equal for equal bytes at any position in memory', () => {
  const memory = new Uint8Array(64).map((_, at) => (at * 37) % 251);
  for (let length = 0; length < 20; length += 1) {
    const expected = sum(memory.slice(3, 3 + length));
    for (let offset = 0; offset < 9; offset += 1) {
      const copy = new Uint8Array(64);
      copy.set(memory.slice(3, 3 + length), offset);
      expect(sum(copy.subarray(offset, offset + length))).toBe(expected);
    }
  }
});

it('differs for bodies that differ in one bit, their length, or the order of their words', () => {
  const body = new Uint8Array(300).map((_, at) => at % 7);
  const others = Array.from({ length: 2400 }, (_, bit) => {
    const other = body.slice();
    other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return other;
  });
  const swapped = body.slice();
  swapped.set(body.subarray(4, 8), 0);
  swapped.set(body.subarray(0, 4), 4);
  const all = [
    body,
    swapped,
    body.subarray(0, 299),
    new Uint8Array(),
    new Uint8Array(1),
    new Uint8Array(4),
    ...others,
  ];
  expect(new Set(all.map(sum)).size).toBe(all.length);
});

it('covers the length, the beginning and the end of a large body', () => {
  const large = new Uint8Array(1 << 20).map((_, at) => at % 251);
  const changed = (at: number): Uint8Array => large.slice().fill(255, at, at + 1);
  const all = [large, changed(0), changed(16_383), changed((1 << 20) - 16_384), changed((1 << 20) - 1)];
  expect(new Set([...all, large.subarray(1), large.subarray(0, -1)].map(sum)).size).toBe(7);
  expect(sum(changed(1 << 19))).toBe(sum(large));
});

it('is that of the fingerprint for an encrypted body', () => {
  const fingerprint = new Uint8Array([1, 2, 3]);
  const sealed = (first: number): Uint8Array => new Uint8Array([first, 9, 9]);
  expect(bodySum({ rawBody: sealed(1), fingerprint })).toBe(bodySum({ rawBody: sealed(2), fingerprint }));
});

it('differs only for bodies that were encrypted with the same key', () => {
  const rawBody = new Uint8Array([1]);
  const sums = [undefined, 'k-1', 'k-2'].map((sealedBy) =>
    bodySum({ rawBody, sealedBy, fingerprint: sealedBy === undefined ? undefined : new Uint8Array([2]) }),
  );
  const others = sums.map((one) => sums.map((other) => areOtherBodies(one, other)));
  expect(others.flat()).not.toContain(true);
  const other = bodySum({ rawBody, sealedBy: 'k-1', fingerprint: new Uint8Array([3]) });
  expect(areOtherBodies(sums[1] as number, other)).toBe(true);
});
