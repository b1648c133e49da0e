import { describe, expect, it } from 'vitest';
import type { ClaimRef, Settlement } from '@webhook-backpressure/inbox';
import { UnknownSettlements } from '@webhook-backpressure/inbox/store';
import { turns } from '../inbox-bench.ts';

const claimed: ClaimRef = { key: 'a', id: '1', attempt: 1 };
const released: Settlement = { ...claimed, as: 'released' };
const lost = new Error('the answer was lost');

const claims = (answer: readonly ClaimRef[]): readonly ClaimRef[] => answer;
const held = (some: readonly Settlement[]): Promise<readonly boolean[]> =>
  Promise.resolve(some.map(() => true));
const loses = (): Promise<never> => Promise.reject(lost);

async function withLost(...settlements: readonly Settlement[]): Promise<UnknownSettlements> {
  const unknown = new UnknownSettlements((error) => error === lost);
  await expect(unknown.settling(settlements, loses)).rejects.toBe(lost);
  return unknown;
}

/** Calls the store, and notes what it was asked to settle. */
function noting(calls: Settlement[][], answer = true) {
  return (some: readonly Settlement[]): Promise<readonly boolean[]> => {
    calls.push([...some]);
    return Promise.resolve(some.map(() => answer));
  };
}

describe('unknown settlements', () => {
  it('are repeated while their delivery is not claimed again', async () => {
    const unknown = await withLost(released);
    await unknown.claiming(() => Promise.resolve([{ ...claimed, id: '2' }]), claims);
    const calls: Settlement[][] = [];
    expect(await unknown.settling([released], noting(calls, false))).toEqual([false]);
    expect(calls).toEqual([[released]]);
  });

  it('were committed once their delivery is claimed again, so that the later claim is not ended', async () => {
    const unknown = await withLost(released);
    await unknown.claiming(() => Promise.resolve([claimed]), claims);
    const calls: Settlement[][] = [];
    const other: Settlement = { key: 'a', id: '2', attempt: 1, as: 'completed', keep: false };
    expect(await unknown.settling([released, other], noting(calls, false))).toEqual([true, false]);
    expect(calls).toEqual([[other]]);
  });

  it('were committed if their delivery is claimed again before their call fails', async () => {
    const unknown = new UnknownSettlements((error) => error === lost);
    let fail: () => void = () => undefined;
    const first = unknown.settling(
      [released],
      () =>
        new Promise((_resolve, reject) => {
          fail = () => {
            reject(lost);
          };
        }),
    );
    await unknown.claiming(() => Promise.resolve([claimed]), claims);
    fail();
    await expect(first).rejects.toBe(lost);
    const calls: Settlement[][] = [];
    expect(await unknown.settling([released], noting(calls))).toEqual([true]);
    expect(calls).toEqual([]);
  });

  it('were committed if they failed an attempt and the next one is claimed', async () => {
    const failed: Settlement = { ...claimed, as: 'failed', retryAtMs: 0, error: 'it failed' };
    const unknown = await withLost(failed);
    await unknown.claiming(() => Promise.resolve([{ ...claimed, attempt: 2 }]), claims);
    expect(await unknown.settling([failed], noting([], false))).toEqual([true]);
  });

  it.each([
    ['completed', 'as a later attempt, after its lease ran out', 3, false],
    ['completed', 'as the same attempt, after a failover', 2, false],
    ['dead', 'as a later attempt, after its lease ran out', 3, false],
    ['dead', 'as the same attempt, after it was put back', 2, true],
    ['dead', 'as an earlier attempt, after it was put back', 1, true],
  ] as const)('are not repeated if a %s delivery is claimed again %s', async (as, _how, attempt, isHeld) => {
    const ref = { ...claimed, attempt: 2 };
    const settlement: Settlement =
      as === 'dead' ? { ...ref, as, error: 'it failed' } : { ...ref, as, keep: false };
    const unknown = await withLost(settlement);
    await unknown.claiming(() => Promise.resolve([{ ...claimed, attempt }]), claims);
    const calls: Settlement[][] = [];
    expect(await unknown.settling([settlement], noting(calls))).toEqual([isHeld]);
    expect(calls).toEqual([]);
  });

  it('leave an equal settlement of the later claim to be stored', async () => {
    const unknown = await withLost(released);
    await unknown.claiming(() => Promise.resolve([claimed]), claims);
    const calls: Settlement[][] = [];
    const again = { ...released };
    expect(await unknown.settling([again, released], noting(calls))).toEqual([true, true]);
    expect(calls).toEqual([[again]]);
  });

  it('stay committed when the settlements beside them are not stored', async () => {
    const unknown = await withLost(released);
    await unknown.claiming(() => Promise.resolve([claimed]), claims);
    const other: Settlement = { key: 'a', id: '2', attempt: 1, as: 'completed', keep: false };
    await expect(unknown.settling([released, other], loses)).rejects.toBe(lost);
    expect(await unknown.settling([released], noting([], false))).toEqual([true]);
  });

  it('do not include those that the store did not make', async () => {
    const unknown = new UnknownSettlements((error) => error === lost);
    const refused = new Error('full');
    await expect(unknown.settling([released], () => Promise.reject(refused))).rejects.toBe(refused);
    let wasRepeated = true;
    await unknown.settling([released], (some, isRepeated) => {
      wasRepeated = some.some(isRepeated);
      return held(some);
    });
    expect(wasRepeated).toBe(false);
  });

  it('are repeated between claims', async () => {
    const unknown = await withLost(released);
    const order: string[] = [];
    let answer: () => void = () => undefined;
    const first = unknown.claiming(async () => {
      order.push('claim');
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return [];
    }, claims);
    const repeated = unknown.settling([released], async (some, isRepeated) => {
      order.push(`settle ${String(some.every(isRepeated))}`);
      await turns();
      order.push('settled');
      return await held(some);
    });
    const second = unknown.claiming(() => {
      order.push('next claim');
      return Promise.resolve([]);
    }, claims);
    await turns();
    expect(order).toEqual(['claim']);
    answer();
    await Promise.all([first, repeated, second]);
    expect(order).toEqual(['claim', 'settle true', 'settled', 'next claim']);
  });

  it('do not delay other settlements during a claim', async () => {
    const unknown = await withLost(released);
    const claim = unknown.claiming(() => new Promise<never>(() => undefined), claims);
    expect(await unknown.settling([{ ...released, id: '2' }], held)).toEqual([true]);
    expect(claim).toBeInstanceOf(Promise);
  });
});
