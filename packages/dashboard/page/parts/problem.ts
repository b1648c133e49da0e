import { helpAddress, withoutHelp } from '../data/address.ts';
import type { Problem } from '../data/wire.ts';
import { RequestError } from './client.ts';
import { h, link } from './dom.ts';

/** An error of the server as text, with its code as a link to the page that explains it. */
export function problemText(problem: Problem): Node[] {
  const { code, message, help } = problem;
  const text = `${withoutHelp(message)} `;
  return [
    document.createTextNode(text),
    code.startsWith('ERR_') || help !== undefined ? link(helpAddress(help, code), code) : h('span', {}, code),
  ];
}

export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) return error.problem;
  return { status: 0, code: 'error', message: error instanceof Error ? error.message : String(error) };
}
