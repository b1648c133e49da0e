import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REQUEST_TEXTS, requestOf } from '../../packages/planner/src/cli/request-texts.ts';
import {
  commandOf,
  FIELDS,
  formOf,
  MORE_FIELDS,
  searchOf,
  textsOf,
} from '../../site/.vitepress/theme/planner/form.ts';
import { parseCommand } from '../../packages/planner/src/cli/arguments.ts';

const ALL =
  '?senders=shopify:0.7,github:0.3&burst=50000/40s&normal=5/s&service=80ms:constant&concurrency=20&mode=inbox' +
  '&receivers=1&capacity=500&max-wait=2min&timeout=1.5s&seed=7';

describe('the form of the planner on the site', () => {
  it('has the options of the command', () => {
    const names = [...FIELDS, ...MORE_FIELDS].map(({ name }) => name);
    expect(new Set([...names, 'senders', 'burst'])).toEqual(new Set(REQUEST_TEXTS));
  });

  it('gets the scenario of an address, and gives the same address and command', () => {
    const texts = textsOf(formOf(ALL));
    expect(searchOf(texts)).toBe(ALL);
    const words = commandOf(texts).split(' ').slice(2);
    expect(parseCommand(words)).toMatchObject({ request: requestOf(new Map(new URLSearchParams(ALL))) });
  });

  it.each(['', '?utm_source=mail', '?burst=10/1s'])('begins with an example at the address %j', (search) => {
    expect(requestOf(new Map(textsOf(formOf(search))))).toMatchObject({
      senders: [
        { profile: 'shopify', share: 70 },
        { profile: 'github', share: 30 },
      ],
      burst: { events: 2000, seconds: 2 },
    });
  });

  it('gets every text back from its address', () => {
    const text = fc.string().map((one) => one.trim());
    const plain = fc.string().map((one) => one.replaceAll(/[,:/]/g, '').trim());
    const sender = fc.record({ name: plain, share: plain });
    const names = [...FIELDS, ...MORE_FIELDS].map(({ name }) => name);
    const others = fc.record(Object.fromEntries(names.map((name) => [name, text])));
    const form = fc.record({
      senders: fc.array(sender, { minLength: 1 }),
      events: plain,
      time: text,
      others,
    });
    fc.assert(
      fc.property(form, (given) => {
        const texts = textsOf(given);
        fc.pre(texts.some(([name]) => name === 'senders'));
        const found = textsOf(formOf(searchOf(texts)));
        expect(found).toEqual(texts);
      }),
    );
  });
});
