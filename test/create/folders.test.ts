import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose, type Choices } from 'create-webhook-backpressure';
import { verifiers } from '@webhook-backpressure/node/inbox';
import { keyPairOf } from '../../packages/fire/src/signing/key-pairs.ts';
import { signerOf } from '../../packages/fire/src/signing/signer.ts';
import { FRAMEWORKS } from '../../packages/create/src/frameworks.ts';
import { SENDERS } from '../../packages/create/src/senders.ts';
import { STORES } from '../../packages/create/src/stores.ts';
import { publishedPackages, root } from '../../tooling/packages.js';
import { built } from '../examples/built.ts';
import { run } from '../examples/run.ts';

const VERSION = publishedPackages()[0]?.manifest.version ?? '';
const SECRET = 'ab'.repeat(32);
const ours = new Set(publishedPackages().map(({ manifest }) => manifest.name));
const examples = JSON.parse(readFileSync(join(root, 'examples/package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

const composed = (choices: Partial<Choices>): Record<string, string> =>
  compose(
    { name: 'my-app', framework: 'express', sender: 'stripe', store: 'sqlite', ...choices },
    { version: VERSION, secret: () => SECRET },
  );

/** Every framework with every store, and every sender. */
const all = [
  ...[...FRAMEWORKS.keys()].flatMap((framework) =>
    [...STORES.keys()].map((store) => ({ framework, store, sender: 'stripe' })),
  ),
  ...[...SENDERS.keys()].map((sender) => ({ framework: 'express', store: 'sqlite', sender })),
].map((choices) => ({ ...choices, files: composed(choices) }));

// Packages of the workspace resolve from there.
mkdirSync(join(root, 'temp'), { recursive: true });
const folder = mkdtempSync(join(root, 'temp/create-'));

// The folders import the built packages, as users do. This is quick if they are up to date.
beforeAll(built, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('a composed folder', () => {
  it('parses, with every framework, store and sender', async () => {
    const sources = all.flatMap(({ files, framework, sender, store }) =>
      Object.entries(files)
        .filter(([name]) => name.endsWith('.js'))
        .map(([name, text]) => [`${framework}, ${sender}, ${store}: ${name}`, text]),
    );
    expect(sources).toHaveLength(3 * (5 * 3 + 51));
    writeFileSync(join(folder, 'sources.json'), JSON.stringify(sources));
    // As `node --check`, in one process for all of them.
    const check = `const { SourceTextModule } = require('node:vm');
for (const [name, text] of JSON.parse(require('node:fs').readFileSync('sources.json', 'utf8'))) {
  try { new SourceTextModule(text); } catch (error) { console.log(name, String(error)); }
}`;
    const args = ['--no-warnings', '--experimental-vm-modules', '-e', check];
    expect(await run(process.execPath, args, folder)).toBe('');
  });

  it.each(all)('names what it imports: $framework, $sender, $store', ({ files }) => {
    const manifest = JSON.parse(files['package.json'] ?? '') as Record<string, Record<string, string>>;
    const needed = { ...manifest['dependencies'], ...manifest['devDependencies'] };
    const sources = ['server.js', 'server.test.js', 'fire.js'].map((name) => files[name] ?? '').join('\n');
    const imported = [...sources.matchAll(/ from '(?!node:)((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name);
    // pg is a peer of our package.
    expect(Object.keys(needed).filter((name) => name !== 'pg')).toEqual(
      expect.arrayContaining([...new Set(imported)]),
    );
    expect([...new Set(imported)]).toEqual(
      expect.arrayContaining(Object.keys(needed).filter((name) => name !== 'pg')),
    );
    for (const [name, range] of Object.entries(needed))
      expect([name, range]).toEqual([name, ours.has(name) ? VERSION : examples.dependencies[name]]);
    const variables = [...sources.matchAll(/process\.env\.(?!TEST_)(\w+)/g)].map(
      ([, name]) => `${name ?? ''}=`,
    );
    for (const file of ['.env', '.env.example']) {
      const names = (files[file] ?? '').match(/^\w+=/gm);
      expect(names).toEqual(expect.arrayContaining(variables));
      expect(
        /const \{ (.*) \} = process/
          .exec(sources)?.[1]
          ?.match(/[A-Z_]{3,}/g)
          ?.sort(),
      ).toEqual(names?.map((name) => name.slice(0, -1)).sort());
    }
  });

  it('has a random secret only in .env', () => {
    const files = composed({ sender: 'github', store: 'postgres' });
    const named = Object.keys(files).filter((name) => files[name]?.includes(SECRET));
    expect(named).toEqual(['.env']);
  });

  it('throws for a row that does not exist', () => {
    expect(() => composed({ framework: 'next' })).toThrow(RangeError);
    expect(() => composed({ sender: 'constructor' })).toThrow(RangeError);
    expect(() => composed({ store: 'toString' })).toThrow(RangeError);
  });
});

describe('the senders', () => {
  it('are those with a verifier, and other', () => {
    const names = [...SENDERS.keys()].map((name) =>
      name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    );
    expect(names.sort()).toEqual([...Object.keys(verifiers), 'other'].sort());
  });

  it.each([...SENDERS].filter(([name]) => name !== 'other'))(
    '%s verifies with the variables of .env, and rejects a request without a signature',
    async (sender, { verify, variables, code = '' }) => {
      const env = Object.fromEntries(
        (composed({ sender })['.env'] ?? '').split('\n').map((line) => line.split(/=(.*)/).slice(0, 2)),
      ) as Record<string, string>;
      const names = variables.map(({ name }) => name);
      const make = runInThisContext(`(verifiers, ${names.join()}) => {${code}; return ${verify};}`) as (
        ...given: unknown[]
      ) => (delivery: object) => unknown;
      const made = make(verifiers, ...names.map((name) => env[name]));
      const delivery = { headers: {}, rawBody: new Uint8Array(), text: () => '', url: '/', method: 'POST' };
      await expect(Promise.resolve().then(() => made(delivery))).rejects.toThrow();
    },
  );

  it.each([...SENDERS])('%s is signed by fire as its row says', (_, { as, signed, variables }) => {
    const { note } = signerOf(as, SECRET);
    const kind = note === undefined ? 'secret' : note.startsWith('unsigned') ? 'never' : 'keyPair';
    expect(kind).toBe(signed);
    const key = variables.find(({ name }) => name === 'WEBHOOK_PUBLIC_KEY');
    if (signed === 'keyPair') expect(signerOf(as, 'local').note).toContain(key?.local);
  });

  it('has the key pair of fire for senders whose requests it cannot sign, too', () => {
    expect(SENDERS.get('http-signatures')?.variables[0]?.local).toBe(keyPairOf('local', true).shown);
  });
});

/** A sender of each kind: HMAC, a token, a key pair, a signed URL, one that only the sender can sign, and a function to fill in. */
const PAIRS = [
  ['express', 'stripe'],
  ['fastify', 'gitlab'],
  ['koa', 'discord'],
  ['hono', 'twilio'],
  ['node', 'paypal'],
  ['node', 'other'],
] as const;

describe('the test of a folder', () => {
  const write = (name: string, files: Readonly<Record<string, string>>): string => {
    const path = join(folder, name);
    mkdirSync(path);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return path;
  };

  it.each(PAIRS)(
    'passes: %s, %s',
    async (framework, sender) => {
      const path = write(`${framework}-${sender}`, composed({ framework, sender }));
      // As `npm test` does; for the others, without the process that looks for the file.
      const args = framework === 'express' ? ['--test'] : ['server.test.js'];
      const printed = await run(process.execPath, args, path);
      expect(printed).toMatch(/^\D*pass 2$/m);
      expect(printed).toMatch(/^\D*fail 0$/m);
    },
    60_000,
  );

  it.each([
    ['anyone may send', / {2}verify: .*,/, '  verify: false,'],
    ['the handler fails', '// YOUR WORK.', `throw new Error('broken'); //`],
  ])(
    'fails when %s',
    async (_, from, to) => {
      const files = composed({ store: 'memory', framework: 'node' });
      const broken = { ...files, 'server.js': (files['server.js'] ?? '').replace(from, to) };
      expect(broken['server.js']).not.toBe(files['server.js']);
      const path = write(`broken-${to.length.toString()}`, broken);
      await expect(run(process.execPath, ['server.test.js'], path)).rejects.toThrow(/fail 1/);
    },
    60_000,
  );
});
