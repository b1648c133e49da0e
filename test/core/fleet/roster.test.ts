import { expect, it } from 'vitest';
import { Roster } from '../../../packages/fleet/src/view.ts';

it('returns each news once, although the registry does so several times', () => {
  const roster = new Roster();
  const members = [{ member: 'b', ageMs: 0, state: '' }];
  const news = [1, 2].map((number) => ({ member: 'b', number, news: String(number) }));
  expect(roster.learn({ members, news: news.slice(0, 1) }, 'a', 0)).toEqual(news.slice(0, 1));
  expect(roster.learn({ members, news }, 'a', 2000)).toEqual(news.slice(1));
  expect(roster.learn({ members, news }, 'a', 4000)).toEqual([]);
  expect(roster.seen).toEqual({ b: 2 });
});
