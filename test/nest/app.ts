import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** An application of Nest in a process, which prints its address and then one line for each step. */
export class App {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #url = '';

  constructor(program: string, ...args: readonly string[]) {
    const child = spawn(process.execPath, [program, ...args], {
      // Of the version that is tested: the example stores its deliveries here.
      cwd: dirname(program),
      env: { ...process.env, PORT: '0', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.process = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /** The next line that it prints. */
  async line(): Promise<string> {
    const line = await this.#lines.next();
    return String(line.value);
  }

  /** The next lines, as many as expected. */
  async lines(count: number): Promise<string[]> {
    const lines: string[] = [];
    while (lines.length < count) lines.push(await this.line());
    return lines;
  }

  /** Resolves when it listens. Nest logs its start before. */
  async listening(): Promise<this> {
    let line = '';
    while (!line.startsWith('http')) line = await this.line();
    this.#url = line.replace('[::1]', 'localhost');
    return this;
  }

  get(path: string): Promise<Response> {
    return fetch(this.#url + path);
  }

  post(path: string, { key = 'secret-of-shop', body = '{"a":1}' } = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    return fetch(this.#url + path, { method: 'POST', headers, body });
  }

  /** The status of a delivery whose body does not arrive. */
  async postHeaders(path: string): Promise<number | undefined> {
    const headers = { 'content-type': 'application/json', 'content-length': '100' };
    const request = httpRequest(this.#url + path, { method: 'POST', headers });
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.destroy();
    return response.statusCode;
  }

  /** Lets the handlers that the test holds continue. */
  async release(): Promise<void> {
    await this.get('/release');
  }
}
