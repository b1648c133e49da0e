import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { unpackedPackage } from '../debian/unpacked-package.ts';

const execute = promisify(execFile);

/** How to start nginx. */
export interface NginxProgram {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where packages put it, which the `PATH` of a plain user may not name. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];
const ADVICE = 'Install nginx, or set NGINX to its path.';
const STARTED_WITHIN_MS = 10_000;

/**
 * Finds nginx: the program that the variable `NGINX` names, else one in `PATH` or where packages put it, else the package
 * of Debian or Ubuntu, which it downloads and unpacks.
 *
 * @throws Error if there is none, with the reason.
 */
export async function findNginx(): Promise<NginxProgram> {
  const { NGINX: named = '', PATH = '' } = process.env;
  if (named === 'none') throw new Error('NGINX=none was set.');
  const paths = [...PATH.split(delimiter), ...FOLDERS].map((folder) => join(folder, 'nginx'));
  const path = named === '' ? paths.find((one) => existsSync(one)) : named;
  if (path !== undefined) return { path, env: process.env };
  const { folder, env } = await unpackedPackage('nginx', ADVICE);
  const unpacked = join(folder, 'usr/sbin/nginx');
  try {
    await execute(unpacked, ['-v'], { env: { ...env } });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`The program of the package nginx does not start. ${ADVICE}`, { cause: error });
  }
  return { path: unpacked, env };
}

/** The answer to a delivery. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A running nginx, with its files in a temporary folder. It listens on a socket there, so that it needs no port. */
export class Nginx {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'wbp-nginx-'));
  readonly #socket: string = join(this.#folder, 'socket');
  #child: ChildProcess | undefined;

  /** @param lines - what is in the block `http`. Its `listen 80` is replaced. */
  async start({ path, env }: NginxProgram, lines: string): Promise<void> {
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(this.#folder, name)};`,
    );
    const file = join(this.#folder, 'nginx.conf');
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${join(this.#folder, 'pid')}; error_log stderr warn;
      events {}
      http { access_log off; ${folders.join(' ')}
      ${lines.replace('listen 80;', `listen unix:${this.#socket};`)}
      }`,
    );
    const child = spawn(path, ['-c', file, '-p', this.#folder], {
      env: { ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const endsAt = performance.now() + STARTED_WITHIN_MS;
    while (!(await this.#accepts())) {
      if (child.exitCode !== null || performance.now() > endsAt)
        throw new Error(`nginx did not start:\n${said}`);
    }
  }

  /** Sends a delivery to /webhooks. */
  post(headers: Readonly<Record<string, string>> = {}, body: string | Buffer = '{}'): Promise<Answer> {
    const sent = this.begin(headers);
    const answer = answerTo(sent);
    sent.end(body);
    return answer;
  }

  /** Begins a delivery, whose body the caller sends. */
  begin(headers: Readonly<Record<string, string>> = {}): ClientRequest {
    return request({
      socketPath: this.#socket,
      path: '/webhooks',
      method: 'POST',
      agent: false,
      headers: { host: 'example.com', 'content-type': 'application/json', ...headers },
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #accepts(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.#socket)
        .once('connect', () => {
          socket.destroy();
          resolve(true);
        })
        // Slowly, so that it is not asked all the time.
        .once('error', () => setTimeout(resolve, 20, false));
    });
  }
}

async function answerTo(sent: ClientRequest): Promise<Answer> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // A refused body may be cut off after the answer.
  sent.on('error', () => undefined);
  let body = '';
  for await (const part of response) body += String(part);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
