import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { page, tokensOf } from '../../test/docs/pages.ts';
import type { Project, Running } from './project.ts';

/** The code of a page in one language. */
export function code(path: string, language: 'js' | 'sh' | 'ts'): string[] {
  return tokensOf('code', page(path).tokens)
    .filter(({ lang }) => lang === language)
    .map(({ text }) => text);
}

/** The first code of a page in one language that contains `words`. */
export function codeWith(words: string, path: string, language: 'js' | 'sh' | 'ts'): string {
  const found = code(path, language).find((block) => block.includes(words));
  if (found === undefined) throw new Error(`${path} has no code with ${words}.`);
  return found;
}

/** A program of a page that serves. */
export interface Served extends Running {
  /** Where it listens, in place of port 3000. */
  readonly url: string;
  /** Where its live page is, in place of port 9000. */
  readonly page: string;
}

/** Saves a program of a page as `server.mjs`, on free ports, and starts it. */
export async function serve(
  project: Project,
  program: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const [port, another] = [await freePort(), await freePort()];
  await project.write('server.mjs', program.replaceAll('3000', port).replaceAll('9000', another));
  return {
    ...project.start('server.mjs', variables),
    url: `http://localhost:${port}`,
    page: `http://127.0.0.1:${another}`,
  };
}

/** What the `curl` of the README prints, once the server listens. */
export function curl(project: Project, url: string): Promise<string> {
  const command = codeWith('curl -i', 'README.md', 'sh');
  const mine = command.replace('curl', 'curl -sS').replace('http://localhost:3000', url);
  return vi.waitFor(() => project.sh(mine), { timeout: 20_000, interval: 100 });
}

/** What `fetch` gives, once the server listens. */
export function reach(url: string, init: RequestInit = {}): Promise<Response> {
  return vi.waitFor(() => fetch(url, init), { timeout: 20_000, interval: 100 });
}

/** Sends the event of the README as GitHub does. */
export function sendSigned({ url }: Served, secret: string): Promise<Response> {
  const body = '{"type":"order.created"}';
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'x-hub-signature-256': `sha256=${signature}` };
  return reach(`${url}/webhooks`, { method: 'POST', body, headers });
}

/** A port that no program listens on. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}
