import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'vite';
import type { Change, Rule } from './rule.ts';
import { RULES } from './rules.ts';
import { AND, REACHED, TAKEN_OUT } from './switches.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PACKAGES = join(ROOT, 'packages');

/** Reads a source of a package. */
export function readSource(file: string): string {
  return readFileSync(join(PACKAGES, file), 'utf8');
}

/** The lines of a rule. */
export function linesOf({ size }: Rule): number {
  if (typeof size === 'number') return size;
  return size.reduce((sum, file) => sum + readSource(file).split('\n').length - 1, 0);
}

/**
 * Changes a source of a package so that its rules are in or out by {@link TAKEN_OUT}.
 *
 * @throws Error if a text of a change does not occur in it.
 */
export function withRules(file: string, code: string): string {
  const rules = RULES.filter(({ changes }) => changes.some((change) => change.file === file));
  if (rules.length === 0) return code;
  let changed = code;
  for (const { name, changes } of rules) {
    for (const change of changes.filter((one) => one.file === file)) {
      changed = changeIn(
        changed,
        change,
        `takenOut[${JSON.stringify(name)}] ?? reachesRule(${JSON.stringify(name)})`,
      );
    }
  }
  const names = JSON.stringify(rules.map(({ name }) => name));
  // Where all rules are in, each says where it is reached.
  const constants = `
    const takenOut = Object.fromEntries(${names}.map((name) => [
      name,
      process.env.${TAKEN_OUT} ? process.env.${TAKEN_OUT}.split('${AND}').includes(name) : undefined,
    ]));
    const reachesRule = (name) => {
      (globalThis.${REACHED} ??= new Set()).add(name);
      return false;
    };
  `;
  return `${changed}${constants}`;
}

function changeIn(code: string, { file, from, as, to }: Change, isOut: string): string {
  const parts = code.split(from);
  if (parts.length === 1) throw new Error(`${file} does not contain: ${from}`);
  if (as === 'after') return parts.join(`${from} if (${isOut}) { ${to} }`);
  return parts.join(`(${isOut} ? (${to}) : (${from}))`);
}

const plugin: Plugin = {
  name: 'ablation',
  enforce: 'pre',
  transform(code, id) {
    const [path = ''] = id.split('?');
    return path.startsWith(`${PACKAGES}/`) ? withRules(path.slice(PACKAGES.length + 1), code) : null;
  },
};

/**
 * Bundles the program of the workers from the sources.
 *
 * @param isChanged - whether rules can be taken out. Otherwise the sources are as they are, also where the rules do not
 * know them.
 * @returns its path.
 */
export async function bundleWorker(isChanged: boolean): Promise<string> {
  // Of this process alone: two may run at the same time.
  const folder = join(ROOT, 'test/simulation/dist', `ablation-${String(process.pid)}`);
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: isChanged ? [plugin] : [],
    ssr: {
      // Also p-limit, of which other versions are installed for other packages.
      noExternal: true,
      resolve: { conditions: ['@webhook-backpressure/source'] },
    },
    build: {
      ssr: join(ROOT, 'test/simulation/src/ablation/worker.ts'),
      outDir: folder,
      emptyOutDir: true,
      target: 'node20',
      rolldownOptions: { output: { entryFileNames: 'worker.js' } },
    },
  });
  return join(folder, 'worker.js');
}
