import { expect, it } from 'vitest';
import { descriptionOf } from '../../site/src/description.ts';
import { pages } from './pages.ts';

const inDocs = pages.filter(({ path }) => path.startsWith('docs/'));

it.each(inDocs)('$path says first for whom it is', ({ source }) => {
  expect(descriptionOf(source)).toMatch(/^For [a-z]/);
});
