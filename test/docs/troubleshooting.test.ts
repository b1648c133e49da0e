import { describe, expect, it } from 'vitest';
import { anchorsOf, codeIn, isHeading, page, rowsOf, sectionOf, tokensOf } from './pages.ts';

const troubleshooting = page('docs/troubleshooting.md');
const symptoms = troubleshooting.tokens
  .filter(isHeading)
  .flatMap(({ depth, text }) => (depth === 3 ? [text] : []));

const problems = tokensOf('link', sectionOf(troubleshooting, 'I have a problem')).map(({ href }) => href);

describe('docs/troubleshooting.md', () => {
  it.each(symptoms)('says how to recognize it and what to do: %s', (symptom) => {
    const section = sectionOf(troubleshooting, symptom);
    const text = section.map(({ raw }) => raw).join('');
    const columns = rowsOf(section, 'You see').length > 0 ? ['You see', 'Cause', 'Fix'] : [];
    const parts = [...text.matchAll(/\*\*(?:Check|Cause|Fix|Cause and fix):\*\*/g)].map(([part]) => part);
    expect(columns.length > 0 || parts.length >= 2).toBe(true);
    expect(tokensOf('link', section).length).toBeGreaterThan(0);
  });

  it('begins with a list that leads to every symptom', () => {
    const headings = troubleshooting.tokens.filter(isHeading);
    const anchors = anchorsOf(troubleshooting).filter((_, at) => headings[at]?.depth === 3);
    expect(problems).toEqual(expect.arrayContaining(anchors.map((anchor) => `#${anchor}`)));
  });

  it.each(problems)('answers within a screen: %s', (href) => {
    const [file = '', anchor = ''] = href.split('#');
    const { tokens, ...target } = file === '' ? troubleshooting : page(`docs/${file}`);
    const headings = anchorsOf({ tokens, ...target });
    const start = tokens.filter(isHeading)[headings.indexOf(anchor)];
    const [, ...rest] = tokens.slice(tokens.findIndex((token) => token === start));
    const end = rest.findIndex((token) => isHeading(token) && token.depth <= (start?.depth ?? 0));
    const text = rest
      .slice(0, end === -1 ? undefined : end)
      .flatMap(({ type, raw }) => (type === 'code' ? [] : [raw]));
    const words = text.join('').replaceAll(/\]\([^)]*\)|[|`*-]+/g, ' ');
    expect(words.split(/\s+/).length).toBeLessThanOrEqual(300);
  });

  it('explains every reason of a refusal', () => {
    const reasons = (name: string, title: string): string[] =>
      rowsOf(sectionOf(page(name), title), '`reason`').flatMap((row) => codeIn(row['`reason`']));
    const explained = reasons('docs/troubleshooting.md', 'All requests get 503 with Retry-After');
    expect(new Set(explained)).toEqual(new Set(reasons('docs/refusals.md', 'Reasons')));
  });

  it('names every code of a warning', () => {
    const codes = rowsOf(sectionOf(page('docs/operations.md'), 'Warnings'), 'Code').flatMap((row) =>
      codeIn(row['Code']),
    );
    const named = rowsOf(sectionOf(troubleshooting, 'Codes'), 'Code').flatMap((row) => codeIn(row['Code']));
    expect(codes.length).toBeGreaterThan(15);
    expect(named.filter((code) => !code.endsWith('…')).toSorted()).toEqual(codes.toSorted());
  });
});
