// Measures what one delivery takes that waits in an intake, or is stored in an inbox: the figures of the planner. Run it
// with: npx tsc -b test/simulation && node --expose-gc test/simulation/dist/memory-cli.js
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInbox, type InboxRequest, type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { withBackpressure } from '@webhook-backpressure/node';
import { sqliteStore } from '@webhook-backpressure/sqlite';

const HELD = 2000;
const STORED = 50_000;
const BODY = Buffer.alloc(1024, '{');
/** Like those of a delivery from GitHub. */
const HEADERS = {
  accept: '*/*',
  'content-type': 'application/json',
  host: 'hooks.example.com',
  'user-agent': 'GitHub-Hookshot/044aadd',
  'x-github-event': 'push',
  'x-github-hook-id': '292430182',
  'x-github-hook-installation-target-id': '79929171',
  'x-github-hook-installation-target-type': 'repository',
  'x-hub-signature-256': 'sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c',
};

const measures: Readonly<Record<string, () => Promise<object>>> = { held, memory: inMemory, file: inFile };

const [role, port] = process.argv.slice(2);
if (role === 'senders') send(Number(port));
else if (role === undefined) await measureAll();
else process.send?.(await measures[role]?.());

/** Measures each in a new process, whose memory no other has used. */
async function measureAll(): Promise<void> {
  for (const name of Object.keys(measures)) {
    const [each] = (await once(fork(import.meta.filename, [name]), 'message')) as [object];
    console.log(name, JSON.stringify(each));
  }
}

/** Opens connections with one request each, and leaves them open. */
function send(to: number): void {
  const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  for (let i = 0; i < HELD; i += 1) {
    const id = `x-github-delivery: 72d3162e-cc78-11e3-81ab-${String(i).padStart(12, '0')}\r\n`;
    const length = `content-length: ${String(BODY.byteLength)}\r\n`;
    const head = `POST /hooks HTTP/1.1\r\n${lines.join('')}${id}${length}\r\n`;
    connect(to, '127.0.0.1').write(Buffer.concat([Buffer.from(head), BODY]));
  }
}

/** The memory of a process, after collection, in bytes. */
function memory(): { readonly heap: number; readonly buffers: number; readonly resident: number } {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('Run it with --expose-gc.');
  gc();
  gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed, buffers: external, resident: rss };
}

function perDelivery(before: ReturnType<typeof memory>, count: number): ReturnType<typeof memory> {
  const after = memory();
  const each = (name: keyof typeof before): number => Math.round((after[name] - before[name]) / count);
  return { heap: each('heap'), buffers: each('buffers'), resident: each('resident') };
}

/** A request that waits in front of a server of node:http, with its connection. */
async function held(): Promise<object> {
  const listener = withBackpressure(() => undefined, {
    capacity: HELD * 2,
    concurrency: 1,
    highWaterMark: 1,
    maxWaitMs: 86_400_000,
    maxHandlingMs: 86_400_000,
  });
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const before = memory();
  const child = fork(import.meta.filename, ['senders', String((server.address() as AddressInfo).port)]);
  while (listener.intake.snapshot().depth < HELD - 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const each = perDelivery(before, HELD);
  child.kill();
  server.closeAllConnections();
  server.close();
  return each;
}

function inMemory(): Promise<object> {
  return stored(memoryStore());
}

/** Also the bytes of the file. */
async function inFile(): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'wbp-memory-'));
  try {
    const path = join(folder, 'inbox.db');
    const each = await stored(sqliteStore({ path }));
    return { ...each, file: Math.round((await stat(path)).size / STORED) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A delivery that an inbox has stored. */
async function stored(store: InboxStore): Promise<object> {
  const inbox = createInbox({
    store,
    verify: false,
    process: () => new Promise(() => undefined),
    concurrency: 1,
  });
  await inbox.opened;
  const before = memory();
  for (let i = 0; i < STORED; i += 100)
    await Promise.all(Array.from({ length: 100 }, (_, at) => inbox.receive(requestOf(i + at))));
  const each = perDelivery(before, STORED);
  if (inbox.snapshot().depth !== STORED) throw new Error('Not all of them are stored.');
  await inbox.close({ timeoutMs: 0 });
  return each;
}

function requestOf(i: number): InboxRequest {
  // Copies, as of a request that was parsed.
  const headers = JSON.parse(JSON.stringify(HEADERS)) as Record<string, string>;
  return {
    method: 'POST',
    url: '/hooks',
    hint: '',
    headers: { ...headers, 'x-github-delivery': `72d3162e-cc78-11e3-81ab-${String(i).padStart(12, '0')}` },
    read: (body) => {
      body.add(Buffer.from(BODY));
      return Promise.resolve('whole');
    },
  };
}
