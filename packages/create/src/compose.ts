import type { Choices, Chosen } from './chosen.ts';
import { FRAMEWORKS } from './frameworks.ts';
import { readme } from './readme.ts';
import { SENDERS, type Variable } from './senders.ts';
import { serverOf } from './server.ts';
import { STORES } from './stores.ts';
import { fireOf, testOf } from './try.ts';

/** What comes from outside. */
export interface Surroundings {
  /** The version of our packages. */
  readonly version: string;
  /** Makes a secret in hexadecimal, of 32 random bytes. Called once for each secret. */
  readonly secret: () => string;
}

const OURS = '@webhook-backpressure';
const PASSWORD: Variable = {
  name: 'PAGE_PASSWORD',
  meaning: 'The password of the live page, whose user is operator. Without one, there is no page.',
  local: '{random}',
};
const PORT: Variable = { name: 'PORT', meaning: 'Where the server listens.', local: '3000' };

/**
 * Composes the files of a folder.
 *
 * @returns the text of each file, by its name.
 * @throws RangeError for a framework, a sender or a store that does not exist.
 */
export function compose(choices: Choices, { version, secret }: Surroundings): Record<string, string> {
  const framed = FRAMEWORKS.get(choices.framework);
  const sent = SENDERS.get(choices.sender);
  const stored = STORES.get(choices.store);
  if (framed === undefined || sent === undefined || stored === undefined)
    throw new RangeError(`There is no ${choices.framework} with ${choices.sender} and ${choices.store}.`);
  const variables = [...sent.variables, ...stored.variables];
  const chosen: Chosen = { ...choices, framed, sent, stored, variables };
  const settings = [...variables, PASSWORD, PORT];
  const local = (given: Variable): string => given.local.replace('{random}', secret);
  return {
    'package.json': manifest(chosen, version),
    'server.js': serverOf(chosen),
    'server.test.js': testOf(chosen),
    'fire.js': fireOf(chosen),
    'README.md': readme(chosen),
    '.env': settings.map((one) => `${one.name}=${local(one)}\n`).join(''),
    '.env.example': settings
      .map((one) => `# ${one.meaning}\n${one.name}=${one.local === '{random}' ? '' : one.local}\n`)
      .join(''),
    '.gitignore': ['node_modules', '.env', '*.db', '*.db-*', ''].join('\n'),
  };
}

function manifest({ name, framework, framed, stored }: Chosen, version: string): string {
  const packages = ['dashboard', framework, 'observe', 'prometheus', stored.package ?? []].flat();
  const ours = packages.map((one) => [`${OURS}/${one}`, version] as const);
  const dependencies = { ...Object.fromEntries(ours), ...framed.dependencies, ...stored.dependencies };
  const all = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      start: 'node --env-file=.env server.js',
      test: 'node --test',
      fire: 'node --env-file=.env fire.js',
    },
    dependencies: sorted({ ...dependencies, 'prom-client': '^15.1.3' }),
    optionalDependencies: stored.optionalDependencies,
    devDependencies: { [`${OURS}/fire`]: version },
  };
  return `${JSON.stringify(all, null, 2)}\n`;
}

/** As npm writes them. */
function sorted(dependencies: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1)));
}
