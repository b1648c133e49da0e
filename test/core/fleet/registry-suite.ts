import type { FleetBeat, FleetRegistry, FleetView } from '@webhook-backpressure/fleet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** A registry, and its server. */
export interface RegistryBed {
  /** A registry of another process. */
  registry(): FleetRegistry;
  /** Makes all rows this much older; with a negative number, written in the future. */
  age(ms: number): Promise<void> | void;
  dispose(): Promise<void> | void;
}

const MAX_NEWS = 65_536;

function beatOf(member: string, given: Partial<FleetBeat> = {}): FleetBeat {
  return { resource: 'db', member, number: 1, state: `"${member}"`, news: '', seen: {}, ...given };
}

function statesOf({ members }: FleetView): Record<string, string> {
  return Object.fromEntries(members.map(({ member, state }) => [member, state]));
}

/** What any registry of a fleet does. */
export function describeRegistry(name: string, createBed: () => RegistryBed): void {
  describe(name, () => {
    let bed: RegistryBed;
    let one: FleetRegistry;
    let two: FleetRegistry;
    beforeEach(() => {
      bed = createBed();
      one = bed.registry();
      two = bed.registry();
    });
    afterEach(() => bed.dispose());

    it('shows a member to the others, with the age of its state', async () => {
      await one.beat(beatOf('a'));
      await bed.age(3000);
      const { members, news } = await two.beat(beatOf('b'));
      const found = members.find(({ member }) => member === 'a');
      expect(found).toMatchObject({ member: 'a', state: '"a"' });
      expect(found?.ageMs).toBeGreaterThanOrEqual(3000);
      expect(found?.ageMs).toBeLessThan(9000);
      expect(news).toEqual([]);
    });

    it('shows the newest state of a member once', async () => {
      await one.beat(beatOf('a'));
      await one.beat(beatOf('a', { number: 2, state: '"newer"' }));
      const { members } = await two.beat(beatOf('b'));
      const states = members.filter(({ member }) => member === 'a').map(({ state }) => state);
      expect(states).toEqual(['"newer"']);
    });

    it('ignores a beat that arrives after a later one of the same member', async () => {
      await one.beat(beatOf('a', { number: 5, state: '"left"' }));
      await one.beat(beatOf('a', { number: 4, state: '"late"', news: '"late"' }));
      const view = await two.beat(beatOf('b'));
      expect(statesOf(view)).toMatchObject({ a: '"left"' });
      expect(view.news).toEqual([]);
    });

    it('separates resources', async () => {
      await one.beat(beatOf('a', { news: '[]' }));
      const { members, news } = await two.beat(beatOf('b', { resource: 'other' }));
      expect([members.filter(({ member }) => member === 'a'), news]).toEqual([[], []]);
    });

    it('passes news on until they are seen, in their order, and never to their member', async () => {
      for (const number of [1, 2, 12]) {
        const { news } = await one.beat(beatOf('a', { number, news: String(number) }));
        expect(news).toEqual([]);
      }
      await one.beat(beatOf('a', { number: 13 }));
      const all = await two.beat(beatOf('b'));
      expect(all.news).toEqual([1, 2, 12].map((number) => ({ member: 'a', number, news: String(number) })));
      const rest = await two.beat(beatOf('b', { number: 2, seen: { a: 2, gone: 7 } }));
      expect(rest.news).toEqual([{ member: 'a', number: 12, news: '12' }]);
    });

    it('forgets a member and its news 10 s after its last beat', async () => {
      await one.beat(beatOf('a', { news: '1' }));
      await bed.age(11_000);
      const { members, news } = await two.beat(beatOf('b'));
      expect([members.filter(({ member }) => member === 'a'), news]).toEqual([[], []]);
    });

    it('forgets what was written before the clock of the server was set back', async () => {
      await one.beat(beatOf('a', { news: '1' }));
      await bed.age(-3_600_000);
      const { members, news } = await two.beat(beatOf('b'));
      expect([members.filter(({ member }) => member === 'a'), news]).toEqual([[], []]);
      await one.beat(beatOf('a', { number: 2 }));
      expect(statesOf(await two.beat(beatOf('b', { number: 2 })))).toMatchObject({ a: '"a"' });
    });

    it('keeps texts as they are', async () => {
      const state = JSON.stringify({ text: '%s %d \\ \' " {} $1 \u{1F4E6} \u0000 \n' });
      const news = JSON.stringify('n'.repeat(MAX_NEWS - 2));
      await one.beat(beatOf('a', { resource: "o'b {c}", state, news }));
      const view = await two.beat(beatOf('b', { resource: "o'b {c}" }));
      expect(statesOf(view)['a']).toBe(state);
      expect(view.news[0]?.news).toBe(news);
    });

    it('orders the beats of 16 members: each sees all that beat before it', async () => {
      const members = Array.from({ length: 16 }, (_, at) => ({ id: `m${String(at)}`, of: bed.registry() }));
      const views = await Promise.all(
        members.map(async ({ id, of }) => await of.beat(beatOf(id, { news: '1' }))),
      );
      const seen = views.map((view, at) => {
        const others = view.members.filter(({ member }) => member !== members[at]?.id);
        expect(view.news.map(({ member }) => member).sort()).toEqual(
          others.map(({ member }) => member).sort(),
        );
        return others.length;
      });
      expect(seen.sort((a, b) => a - b)).toEqual(members.map((_, at) => at));
    });
  });
}
