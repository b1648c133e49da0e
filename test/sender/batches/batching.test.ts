import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Batching, type Batchable } from '../../../packages/sender/src/batches/batching.ts';
import { batchContent, type StoredEvent } from '../../../packages/sender/src/requests/request-content.ts';
import { storedEvent } from '../../../packages/sender/src/outbox/outgoing-event.ts';

const BATCH = { maxEvents: 4, maxDelayMs: 5000, maxBytes: 1_000_000 };
const AT_MS = Date.UTC(2026, 10, 22);

interface Claim extends Batchable {
  readonly event: StoredEvent;
}

function claim(id: string, data: string | number = 1, headers?: Record<string, string>): Claim {
  return { event: storedEvent({ endpoint: 'ep', type: 't', data, id, headers }, 1_048_576, AT_MS) };
}

function claims(...ids: string[]): Claim[] {
  return ids.map((id) => claim(id));
}

function idsOf(batches: readonly { readonly claims: readonly Claim[] }[]): string[][] {
  return batches.map((batch) => batch.claims.map(({ event }) => event.id));
}

describe('batching', () => {
  it('cuts events into batches of the largest number, in order', () => {
    const { batches, rest } = new Batching().compose(claims('1', '2', '3', '4', '5', '6'), BATCH, true);
    expect(idsOf(batches)).toEqual([
      ['1', '2', '3', '4'],
      ['5', '6'],
    ]);
    expect(rest).toEqual([]);
  });

  it('sends an event above the limit of bytes alone', () => {
    const events = [claim('1'), claim('2', 'x'.repeat(500)), claim('3'), claim('4')];
    const { batches } = new Batching().compose(events, { ...BATCH, maxBytes: 300 }, true);
    expect(idsOf(batches)).toEqual([['1'], ['2'], ['3', '4']]);
  });

  it('puts only events with the same headers into one request', () => {
    const events = [
      claim('1', 1, { a: 'x' }),
      claim('2', 1, { a: 'x' }),
      claim('3', 1, { a: 'y' }),
      claim('4', 1, { b: 'x' }),
      claim('5', 1, { b: 'x', c: 'z' }),
      claim('6'),
    ];
    expect(idsOf(new Batching().compose(events, BATCH, true).batches)).toEqual([
      ['1', '2'],
      ['3'],
      ['4'],
      ['5'],
      ['6'],
    ]);
  });

  it('fills batches as far as number and bytes allow, whatever the events are', () => {
    const data = fc.string({ unit: 'binary', maxLength: 60 });
    const limits = fc.record({
      maxEvents: fc.integer({ min: 1, max: 6 }),
      maxBytes: fc.integer({ min: 1, max: 600 }),
    });
    fc.assert(
      fc.property(fc.array(data, { maxLength: 20 }), limits, (texts, given) => {
        const batch = { ...BATCH, ...given };
        const events = texts.map((text, at) => claim(String(at), text));
        const { batches } = new Batching().compose(events, batch, true);
        expect(idsOf(batches).flat()).toEqual(events.map(({ event }) => event.id));
        const sizeOf = ([first, ...others]: readonly [Claim, ...Claim[]]): number =>
          batchContent('b', [first.event, ...others.map(({ event }) => event)]).body.byteLength;
        for (const [at, { claims: members }] of batches.entries()) {
          expect(members.length).toBeLessThanOrEqual(batch.maxEvents);
          if (members.length > 1) expect(sizeOf(members)).toBeLessThanOrEqual(batch.maxBytes);
          const next = batches[at + 1]?.claims[0];
          if (next === undefined) continue;
          const isFull = members.length === batch.maxEvents;
          expect(isFull || sizeOf([...members, next]) > batch.maxBytes).toBe(true);
        }
      }),
      { seed: 1, numRuns: 50 },
    );
  });

  it('gives the same events the same id, and other events another one', () => {
    const idOf = (...ids: string[]): string | undefined =>
      new Batching().compose(claims(...ids), BATCH, true).batches[0]?.id;
    expect(idOf('1', '2')).toMatch(/^batch_[0-9a-f]{32}$/);
    expect(idOf('1', '2')).toBe(idOf('1', '2'));
    expect(new Set([idOf('1', '2'), idOf('12'), idOf('2', '1'), idOf('1', '2', '3')]).size).toBe(4);
  });

  it('sends a refused batch whole and under the same id, before other events', () => {
    const batching = new Batching();
    const [first] = batching.compose(claims('1', '2', '3'), BATCH, true).batches;
    batching.keepTogether(first?.claims ?? []);
    const again = batching.compose(claims('9', '3', '8', '2', '1'), BATCH, true);
    expect(idsOf(again.batches)).toEqual([
      ['1', '2', '3'],
      ['9', '8'],
    ]);
    expect(again.batches[0]?.id).toBe(first?.id);
    expect(idsOf(batching.compose(claims('1', '4'), BATCH, true).batches)).toEqual([['1', '4']]);
  });

  it('keeps a refused batch together when its request is not started after all', () => {
    const batching = new Batching();
    batching.keepTogether(claims('1', '2'));
    batching.split(claims('3', '4'));
    const { batches } = batching.compose(claims('1', '2', '3', '4', '5', '6'), BATCH, true);
    expect(idsOf(batches)).toEqual([['1', '2'], ['3'], ['4'], ['5', '6']]);
    for (const batch of batches) batching.giveBack(batch);
    const again = batching.compose(claims('5', '1', '2', '3', '4', '6'), BATCH, true);
    expect(idsOf(again.batches)).toEqual([['1', '2'], ['3'], ['4'], ['5', '6']]);
  });

  it('gives the events of a group back until all are claimed', () => {
    const batching = new Batching();
    batching.keepTogether(claims('1', '2', '3'));
    const part = batching.compose(claims('7', '1', '2'), BATCH, false);
    expect(idsOf(part.batches)).toEqual([['7']]);
    expect(part.rest.map(({ event }) => event.id)).toEqual(['1', '2']);
    expect(idsOf(batching.compose(claims('1', '2', '3'), BATCH, false).batches)).toEqual([['1', '2', '3']]);
  });

  it('puts the events of a group into batches anew when the others were claimed elsewhere', () => {
    const batching = new Batching();
    batching.keepTogether(claims('1', '2', '3'));
    expect(idsOf(batching.compose(claims('7', '1'), BATCH, true).batches)).toEqual([['1', '7']]);
    expect(idsOf(batching.compose(claims('2', '8'), BATCH, true).batches)).toEqual([['2', '8']]);
  });

  it('keeps an event in the batch that was refused last', () => {
    const batching = new Batching();
    batching.keepTogether(claims('1', '2', '3'));
    batching.keepTogether(claims('3', '4'));
    expect(idsOf(batching.compose(claims('1', '2', '3', '4'), BATCH, false).batches)).toEqual([
      ['3', '4'],
      ['1', '2'],
    ]);
  });

  it('remembers the last 1,000 refused batches', () => {
    const batching = new Batching();
    for (let n = 0; n <= 1000; n += 1) batching.keepTogether(claims(`a${String(n)}`, `b${String(n)}`));
    const { batches } = batching.compose(claims('a0', 'a1', 'b1', '9', 'b0'), BATCH, true);
    expect(idsOf(batches)).toEqual([
      ['a1', 'b1'],
      ['a0', '9', 'b0'],
    ]);
  });

  it('keeps the order of several groups that are put into batches anew', () => {
    const batching = new Batching();
    batching.keepTogether(claims('1', '2'));
    batching.keepTogether(claims('3', '4'));
    expect(idsOf(batching.compose(claims('1', '3', '9'), BATCH, true).batches)).toEqual([['1', '3', '9']]);
  });

  it('gives a group up when some events are missing for the third time', () => {
    const batching = new Batching();
    batching.keepTogether(claims('1', '2'));
    expect(batching.compose(claims('1'), BATCH, false).rest).toHaveLength(1);
    expect(batching.compose(claims('1'), BATCH, false).rest).toHaveLength(1);
    expect(idsOf(batching.compose(claims('1', '7'), BATCH, false).batches)).toEqual([['1', '7']]);
  });

  it.each([1, 2, 3, 5, 8, 100])('finds each event at fault by halves in a batch of %i', (count) => {
    const ids = Array.from({ length: count }, (_, at) => `e${String(at)}`);
    for (const bad of [0, Math.floor(count / 2), count - 1]) {
      const batching = new Batching();
      const delivered: string[] = [];
      const dead: string[] = [];
      let waiting = ids;
      let requests = 0;
      while (waiting.length > 0) {
        const { batches } = batching.compose(claims(...waiting), { ...BATCH, maxEvents: 500 }, true);
        waiting = [];
        for (const { claims: members } of batches) {
          requests += 1;
          const of = members.map(({ event }) => event.id);
          if (!of.includes(`e${String(bad)}`)) delivered.push(...of);
          else if (of.length === 1) dead.push(...of);
          else {
            batching.split(members);
            waiting.push(...of);
          }
        }
      }
      expect(dead).toEqual([`e${String(bad)}`]);
      expect(delivered.sort()).toEqual(ids.filter((id) => !dead.includes(id)).sort());
      expect(requests).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(count)));
    }
  });

  it('sends each event once per round, whatever is refused or split', () => {
    const fates = fc.array(fc.constantFrom('delivered', 'refused', 'split'), {
      minLength: 60,
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        fates,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 40 }),
        (given, count, limit) => {
          const batching = new Batching();
          let waiting = Array.from({ length: count }, (_, at) => String(at));
          for (const fate of given) {
            const claimed = waiting.slice(0, limit);
            const { batches, rest } = batching.compose(claims(...claimed), BATCH, claimed.length < limit);
            const sent = [...idsOf(batches).flat(), ...rest.map(({ event }) => event.id)];
            expect([...sent].sort()).toEqual([...claimed].sort());
            const [first] = batches;
            if (first === undefined) continue;
            const of = first.claims.map(({ event }) => event.id);
            if (fate === 'refused') batching.keepTogether(first.claims);
            else if (fate === 'split' && of.length > 1) batching.split(first.claims);
            else waiting = waiting.filter((id) => !of.includes(id));
          }
        },
      ),
      { seed: 1, numRuns: 40 },
    );
  });
});
