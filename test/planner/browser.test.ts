import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

it('imports nothing of Node in the parts that a browser runs', async () => {
  const build = await rolldown({
    input: fileURLToPath(new URL('../../packages/planner/src/parts.ts', import.meta.url)),
    platform: 'browser',
    resolve: { conditionNames: ['@webhook-backpressure/source', 'import', 'default'] },
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await build.generate({ format: 'es' });
  await build.close();
  expect(output.map(({ fileName }) => fileName)).toEqual(['parts.js']);
  expect(output[0].imports).toEqual([]);
  expect(output[0].code).toContain('shopify');
});
