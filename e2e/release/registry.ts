import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SCOPE, UNSCOPED } from './scope.ts';
import { folder as tools } from './tools.ts';

interface Verdaccio {
  readonly runServer: (config: object) => Promise<Server>;
}

/** A registry on this machine that holds only our packages. */
export class Registry {
  readonly url: string;
  /** Names of packages that it refuses to store, as a registry that fails in the middle of a release. */
  readonly refused = new Set<string>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  }

  /** @param storage the folder of its data */
  static async start(storage: string): Promise<Registry> {
    const { runServer } = createRequire(join(tools, 'package.json'))('verdaccio') as Verdaccio;
    const verdaccio = await runServer({
      storage,
      configPath: join(storage, 'config.yaml'),
      self_path: storage,
      auth: { htpasswd: { file: join(storage, 'htpasswd') } },
      // Other packages come from the registry that npm is configured with.
      uplinks: {},
      packages: Object.fromEntries(
        [`${SCOPE}/*`, UNSCOPED].map((name) => [
          name,
          { access: '$all', publish: '$all', unpublish: '$all' },
        ]),
      ),
      log: { type: 'stdout', format: 'pretty', level: 'error' },
    });
    const server = createServer((request, response) => {
      if (registry.#refuses(request)) refuse(request, response);
      else verdaccio.emit('request', request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const registry = new Registry(server);
    return registry;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #refuses({ method, url = '' }: IncomingMessage): boolean {
    return method === 'PUT' && this.refused.has(decodeURIComponent(url.slice(1)));
  }
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume().once('end', () => {
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"out of order"}');
  });
}
