import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { answer } from '../pinned.ts';

/** The folder of its files; when they are written to the disk, `defaults` for the settings of Redis; the port, 0 for any. */
const [folder = '', sync = 'always', given = '0'] = process.argv.slice(2);
/** Where `npx vitest run test/redis` unpacks Debian's package. */
const UNPACKED = fileURLToPath(new URL('../../../node_modules/.cache/redis-server/usr', import.meta.url));

async function start(): Promise<number> {
  const probe = createServer().listen(Number(given), '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const { path, env } = program();
  const settings = ['--bind', '127.0.0.1', '--dir', folder];
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', sync];
  const all = sync === 'defaults' ? settings : [...settings, ...durable];
  const server = spawn(path, ['--port', String(port), ...all], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => server.kill('SIGKILL'));
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      if (line.includes('Ready to accept connections')) resolve();
    });
    server.once('error', reject).once('exit', (code) => {
      reject(new Error(`${path} ended with ${String(code)}.`));
    });
  });
  return port;
}

function program(): { path: string; env: NodeJS.ProcessEnv } {
  const { REDIS_SERVER } = process.env;
  if (REDIS_SERVER !== undefined && REDIS_SERVER !== '') return { path: REDIS_SERVER, env: process.env };
  if (!existsSync(UNPACKED)) return { path: 'redis-server', env: process.env };
  const libraries = join(UNPACKED, 'lib');
  const folders = readdirSync(libraries).filter((name) => name.includes('-linux-'));
  const paths = folders.map((name) => join(libraries, name));
  return {
    path: join(UNPACKED, 'bin/redis-server'),
    env: { ...process.env, LD_LIBRARY_PATH: paths.join(':') },
  };
}

answer(() => start());
