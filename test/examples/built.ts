import { inject } from 'vitest';

/** Resolves when the packages are built. */
export async function built(): Promise<void> {
  const response = await fetch(inject('buildAt'));
  if (!response.ok) throw new Error(await response.text());
}
