import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../packages/create/src/run-cli.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly asked: readonly string[];
}

/** @param answers - of the user at the terminal; undefined without one. */
async function run(args: readonly string[], answers?: readonly string[]): Promise<Ran> {
  let out = '';
  let err = '';
  const asked: string[] = [];
  const ask = (question: string): Promise<string> => {
    asked.push(question);
    const answer = answers?.[asked.length - 1];
    return answer === undefined ? Promise.reject(new Error('ended')) : Promise.resolve(answer);
  };
  const code = await runCli(args, {
    out: (text) => (out += `${text}\n`),
    err: (text) => (err += `${text}\n`),
    ask: answers === undefined ? undefined : ask,
    version: '1.2.3',
    secret: () => '5ec4e7',
  });
  return { code, out, err, asked };
}

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-backpressure-create-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const NAME =
  'The name of the folder is that of its package: 1 to 214 of a-z, 0-9, ".", "_" and "-", the first one a letter or digit, and not the name of a module of Node.js, but was';

/** Misuses of the command, with the line that it prints. */
const MISUSES: readonly (readonly [args: readonly string[], printed: string])[] = [
  [
    ['a', '--framework', 'expres'],
    '--framework must be one of express, fastify, koa, hono, node, but was "expres".',
  ],
  [['a', '--sender', 'stipe'], '--sender must be a name that --help lists, but was "stipe".'],
  [['a', '--store', 'redis'], '--store must be one of sqlite, postgres, memory, but was "redis".'],
  [['a', '--store'], '--store needs a value.'],
  [['a', '--store='], '--store needs a value.'],
  [['a', '--framework', '--sender', 'stripe'], '--framework needs a value.'],
  [['a', '--typescript'], 'Unknown option "--typescript". --help lists the options.'],
  [['a', '--store', 'memory', '--store', 'sqlite'], '--store must be given once.'],
  [['a', '--help=yes'], '--help takes no value.'],
  // npm keeps options without -- for itself, and passes their values on.
  [
    ['a', 'express'],
    'There must be one folder, but also "express" was given. npm passes options on after --: npm create webhook-backpressure FOLDER -- --framework express',
  ],
  [['My App'], `${NAME} "My App".`],
  [['.hidden'], `${NAME} ".hidden".`],
  [['node_modules'], `${NAME} "node_modules".`],
  [['apps/http'], `${NAME} "http".`],
  [['a'.repeat(215)], `${NAME} "${'a'.repeat(215)}".`],
  [['/'], `${NAME} "".`],
];

describe('npm create webhook-backpressure', () => {
  it.each(MISUSES)('rejects %j', async (args, printed) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err: `${printed}\n`, asked: [] });
  });

  it('writes a folder with the defaults without a terminal, and says which', async () => {
    const path = join(folder, 'apps/my-app');
    const { code, out, err } = await run([path, '--store', 'memory']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`Without a terminal, defaults: framework express, sender stripe.
Created ${path}.

  cd ${path}
  npm install
  npm test
  npm start

`);
    expect(readdirSync(path).sort()).toEqual(
      ['.env', '.env.example', '.gitignore', 'README.md', 'fire.js'].concat([
        'package.json',
        'server.js',
        'server.test.js',
      ]),
    );
    expect(JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))).toMatchObject({ name: 'my-app' });
  });

  it('asks at a terminal for what is not given, and again after a wrong answer', async () => {
    const path = join(folder, 'my-app');
    const { code, err, out, asked } = await run(['--sender', 'github'], [path, 'next', ' koa ', '']);
    expect([code, err]).toEqual([
      0,
      '--framework must be one of express, fastify, koa, hono, node, but was "next".\n',
    ]);
    expect(asked).toEqual([
      'folder (my-webhooks) ',
      'framework, one of express, fastify, koa, hono, node (express) ',
      'framework, one of express, fastify, koa, hono, node (express) ',
      'store, one of sqlite, postgres, memory (sqlite) ',
    ]);
    expect(out).toMatch(/^Created /);
    const server = readFileSync(join(path, 'server.js'), 'utf8');
    expect(server).toContain(`import Koa from 'koa';`);
    expect(server).toContain('verifiers.github(');
    expect(server).toContain('sqliteStore({ path: DATABASE })');
  });

  it('writes nothing when the user ends it', async () => {
    await expect(run([join(folder, 'my-app')], ['koa'])).rejects.toThrow('ended');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('accepts an empty folder, and overwrites nothing in another', async () => {
    const path = join(folder, 'my-app');
    mkdirSync(path);
    expect(await run([path])).toMatchObject({ code: 0 });
    const written = readFileSync(join(path, '.env'), 'utf8');
    const again = await run([path, '--store', 'memory']);
    expect([again.code, again.err]).toEqual([
      1,
      `The folder ${path} exists and is not empty. Nothing was written.\n`,
    ]);
    expect(readFileSync(join(path, '.env'), 'utf8')).toBe(written);
  });

  it('says why it cannot write', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    const { code, err } = await run([path]);
    expect([code, err]).toEqual([
      1,
      `The folder ${path} cannot be written: EEXIST: file already exists, mkdir '${path}'.\n`,
    ]);
  });

  it('prints its version, and help with every sender', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, out: '1.2.3\n', err: '' });
    const { code, out } = await run(['a', '-h']);
    expect([code, readdirSync(folder)]).toEqual([0, []]);
    expect(out).toContain('stripe');
    expect(out).toContain('other');
  });
});
