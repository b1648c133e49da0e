import type { StoredDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { encodeFacts } from '../../packages/inbox/src/store.ts';
import { factsOf, isIntact, type FactsRow } from '../../packages/sqlite/src/tables/contents.ts';
import { delivery, START } from '../core/inbox/store/cases/store-fixtures.ts';

const row = (facts: string): FactsRow => ['shop', 'a', 0, null, facts, START];

describe('a row of a delivery', () => {
  it.each<Partial<StoredDelivery>>([
    {},
    { headers: Object.fromEntries([['__proto__', 'x']]) },
    { request: { method: 'POST', url: '/a\u0000\ud800', params: Object.fromEntries([['__proto__', 'x']]) } },
    { context: [null, { a: 'é' }] },
    { context: { headers: {} }, sealedBy: 'key-1' },
  ])('decodes to what was encoded: %j', (fields) => {
    const one = delivery('a', fields);
    const stored = row(encodeFacts(one));
    expect(isIntact(stored)).toBe(true);
    expect({ ...factsOf(stored), rawBody: one.rawBody }).toEqual(one);
  });

  it.each([
    '',
    '[]',
    '[{},"POST","/",{},null]',
    '[{},"POST","/",{},null,null,1]',
    '[{"a":1},"POST","/",{},null,null]',
    '[{},1,"/",{},null,null]',
    '[{},"POST",null,{},null,null]',
    '[{},"POST","/",[],null,null]',
    '[{},"POST","/",{},null,1]',
    'null',
    '"a"',
  ])('with the facts %s is damaged, and can still be listed', (stored) => {
    expect(isIntact(row(stored))).toBe(false);
    expect(factsOf(row(stored))).toMatchObject({ id: 'a', headers: {}, sealedBy: undefined });
  });
});
