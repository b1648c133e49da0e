import { existsSync, readFileSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { BASE } from '../../site/src/addresses.ts';
import { root } from '../../tooling/packages.js';

const FOLDER = join(root, 'site/dist');
const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Serves the built site as GitHub Pages does: below its base path, pages without extensions, and 404.html. */
export async function serveSite(): Promise<{ readonly address: string; readonly close: () => void }> {
  if (!existsSync(FOLDER)) throw new Error('There is no site/dist: run `npm run site` first.');
  const server: Server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    const file = pathname.startsWith(BASE) ? fileOf(pathname.slice(BASE.length)) : undefined;
    const path = file ?? join(FOLDER, '404.html');
    res.writeHead(file === undefined ? 404 : 200, { 'content-type': TYPES[extname(path)] });
    res.end(readFileSync(path));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${String(port)}${BASE}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function fileOf(path: string): string | undefined {
  const candidates = [path, `${path}.html`, join(path, 'index.html')].map((name) => join(FOLDER, name));
  return candidates.find((file) => existsSync(file) && statSync(file).isFile());
}
