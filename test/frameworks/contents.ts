import { setImmediate } from 'node:timers/promises';

export const bytes: Uint8Array = Uint8Array.from({ length: 70_000 }, (_, i) => i % 251);

/** The parts of a stream, each in another turn of the event loop. */
export async function* chunks(): AsyncGenerator<string, undefined> {
  for (let i = 0; i < 5; i += 1) {
    await setImmediate();
    yield `part ${String(i)}, `;
  }
  return undefined;
}
