import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Adapter } from './adapter.ts';

const folder = join(import.meta.dirname, 'adapters');

/** Every adapter, with the lowest and the highest version of its framework that we support. */
export const adapters: readonly Adapter[] = (
  await Promise.all(
    readdirSync(folder)
      .sort()
      .map(async (file) => (await import(join(folder, file))) as { adapters: readonly Adapter[] }),
  )
).flatMap((module) => module.adapters);
