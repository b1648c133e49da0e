import { expect, it } from 'vitest';
import { PriorityShares } from '../../../../packages/inbox/src/work/priority-shares.ts';

/** Divides free workers among priorities with so many due deliveries. Returns what was asked for, in this order. */
function divide(shares: PriorityShares, count: number, due: readonly number[]): (readonly number[])[] {
  const asked: (readonly number[])[] = [];
  const left = [...due];
  shares.divide(count, (rank, most) => {
    asked.push([rank, most]);
    const found = Math.min(most, left[rank] ?? 0);
    left[rank] = (left[rank] ?? 0) - found;
    return found;
  });
  return asked;
}

it('asks the first priority first, and the next ones for the workers that are left', () => {
  expect(divide(new PriorityShares(), 4, [9, 9, 9])).toEqual([[0, 4]]);
  expect(divide(new PriorityShares(), 4, [1, 2, 9])).toEqual([
    [0, 4],
    [1, 3],
    [2, 1],
  ]);
});

it('owes a tenth to the second priority and a hundredth to the third', () => {
  const shares = new PriorityShares();
  shares.started(0, 8);
  expect(divide(shares, 4, [9, 9, 9])).toEqual([[0, 4]]);
  // A ninth of the starts before is a tenth of all.
  shares.started(0, 10);
  expect(divide(shares, 4, [9, 9, 9])).toEqual([
    [1, 2],
    [0, 2],
  ]);
  shares.started(0, 81);
  expect(divide(shares, 12, [9, 9, 9])).toEqual([
    [2, 1],
    [1, 11],
    [0, 2],
  ]);
});

it('owes the third priority a share of the second one, and none to a higher one', () => {
  const shares = new PriorityShares();
  shares.started(1, 99);
  shares.started(2, 1000);
  expect(divide(shares, 4, [0, 9, 9])).toEqual([
    [0, 4],
    [1, 4],
  ]);
  shares.started(1, 100);
  expect(divide(shares, 1, [9, 9, 9])).toEqual([[2, 1]]);
  shares.started(2, 1);
  expect(divide(shares, 1, [9, 9, 9])).toEqual([[0, 1]]);
});

it('owes the deliveries that were asked for until they have started', () => {
  const shares = new PriorityShares();
  shares.started(0, 18);
  for (let call = 0; call < 2; call += 1) expect(divide(shares, 1, [9, 9, 9])).toEqual([[1, 1]]);
  shares.started(1, 1);
  expect(divide(shares, 1, [9, 9, 9])).toEqual([[1, 1]]);
  shares.started(1, 1);
  expect(divide(shares, 1, [9, 9, 9])).toEqual([[0, 1]]);
});

it('owes one start at most of a share that was not used', () => {
  const shares = new PriorityShares();
  shares.started(0, 90);
  expect(divide(shares, 20, [99, 3, 0])).toEqual([
    [1, 10],
    [0, 17],
  ]);
  expect(divide(shares, 20, [99, 9, 0])).toEqual([
    [1, 1],
    [0, 19],
  ]);
});
