import { expect, it } from 'vitest';
import { VERSION } from '../../packages/otel/src/version.ts';
import { publishedPackages } from '../../tooling/packages.js';

it('reports the version of its package as that of the instrumentation', () => {
  const [otel] = publishedPackages().filter(({ folder }) => folder === 'otel');
  expect(VERSION).toBe(otel?.manifest.version);
});
