import type { Answer } from './inside.ts';
import { printable } from './text.ts';

export function quoted(text: string): string {
  return JSON.stringify(printable(text));
}

export function deliveries(count: number): string {
  return count === 1 ? '1 delivery' : `${String(count)} deliveries`;
}

export function notThere(id: string, key: string | undefined, where: string): Answer {
  const of = key === undefined ? '' : ` of the key ${quoted(key)}`;
  return { problem: `There is no delivery ${quoted(id)}${of} ${where}.` };
}

/** As text where it is one, so that JSON stays readable. */
export function bodyOf(rawBody: Uint8Array): { readonly body: string; readonly encoding: 'utf8' | 'base64' } {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    return { body, encoding: 'utf8' };
  } catch {
    return { body: Buffer.from(rawBody).toString('base64'), encoding: 'base64' };
  }
}
