import { describe, expect, it } from 'vitest';
import { sources } from '../nest/compile.ts';
import { page, tokensOf } from './pages.ts';

const files = new Set([...sources.values()].map((source) => source.trim()));
const blocks = tokensOf('code', page('docs/nestjs.md').tokens).filter(({ lang }) => lang === 'ts');

// The tests in test/nest run these files, and `npm run check:types` compiles them.
describe('docs/nestjs.md', () => {
  it('has code', () => {
    expect(blocks.length).toBeGreaterThan(5);
  });

  it.each(blocks.map(({ text }) => [text.split('\n')[0], text]))(
    'shows %s as it is in examples/nestjs',
    (_name, text) => {
      expect(files).toContain(text.trim());
    },
  );
});
