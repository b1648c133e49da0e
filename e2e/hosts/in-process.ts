import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import type { RequestListener } from '@webhook-backpressure/node';
import type { ServeWeb } from '../../test/conformance/web-servers.ts';
import { folderOf, type Host } from './tools.js';

type Fetch = Parameters<ServeWeb>[0];

/** What the apps in this process pass their requests to, by the header `x-receiver`. */
const routes = new Map<string, Fetch>();
Object.assign(globalThis, { suiteRoutes: routes });

async function load<T>(folder: string, file: string): Promise<T> {
  return (await import(pathToFileURL(join(folder, file)).href)) as T;
}

// Its adapters have no listener, so that the suite calls Elysia itself.
async function loadElysia(folder: string): Promise<RequestListener> {
  return getRequestListener((await load<{ fetch: Fetch }>(folder, 'suite.js')).fetch);
}

/** Loads the built app of a host as a listener for node:http, by kind. */
export const listenerOf: Record<string, ((folder: string) => Promise<RequestListener>) | undefined> = {
  async next(folder) {
    interface Next {
      default: (options: object) => { prepare(): Promise<void>; getRequestHandler(): RequestListener };
    }
    Object.assign(process.env, { NODE_ENV: 'production' });
    const module = await load<Next & { default: Next }>(folder, 'node_modules/next/dist/server/next.js');
    const create = typeof module.default === 'function' ? module.default : (module.default as Next).default;
    const app = create({ dev: false, dir: folder, hostname: 'localhost', port: 3000 });
    await app.prepare();
    return app.getRequestHandler();
  },
  async sveltekit(folder) {
    return (await load<{ handler: RequestListener }>(folder, 'build/handler.js')).handler;
  },
  async astro(folder) {
    Object.assign(process.env, { ASTRO_NODE_AUTOSTART: 'disabled' });
    return (await load<{ handler: RequestListener }>(folder, 'dist/server/entry.mjs')).handler;
  },
  async h3(folder) {
    return (await load<{ listener: RequestListener }>(folder, 'suite.js')).listener;
  },
  async srvx(folder) {
    return (await load<{ listener: RequestListener }>(folder, 'suite.js')).listener;
  },
  elysia: loadElysia,
  'elysia-bun': loadElysia,
  async nitro2(folder) {
    return (await load<{ listener: RequestListener }>(folder, '.output-suite/server/index.mjs')).listener;
  },
  async nitro3(folder) {
    return (await load<{ middleware: RequestListener }>(folder, '.output-suite/server/index.mjs')).middleware;
  },
};

/** Serves the requests of the suite by a host in this process. */
export function serveBy(host: Host): ServeWeb {
  const loading = listenerOf[host.kind]?.(folderOf(host));
  return (fetch) => {
    const id = String(routes.size);
    routes.set(id, fetch);
    return (req, res) => {
      req.url = '/suite';
      // SvelteKit 2 drops a body without Content-Type.
      const headers = { 'x-receiver': id, 'content-type': req.headers['content-type'] ?? 'application/json' };
      // Elysia finds no path behind a host of one character, as some tests have it.
      Object.assign(req.headers, headers, { host: 'localhost' });
      req.rawHeaders.push(...Object.entries(headers).flat());
      return loading?.then((listener) => listener(req, res));
    };
  };
}
