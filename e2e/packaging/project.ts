import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isSound } from '../../packages/sqlite/src/connection/drivers.ts';
import { root } from '../../tooling/packages.js';
import { run } from '../../test/examples/run.ts';
import { testedVersion, type Packed } from './packed.ts';

/** What the program of every consumer reports. */
export const REPORT = {
  middleware: { key: 'shop-1', typed: true, depth: 0 },
  inbox: { status: 200, completed: 'evt_1', typed: true },
};

/** What the SQLite store needs beside it: nothing where the SQLite of Node is new enough. */
export const besideSqlite: Readonly<Record<string, string>> = isSound(process.versions['sqlite'] ?? '0')
  ? {}
  : { libsql: testedVersion('libsql') };

/** Writes the manifest of a project that has installed `packages` from their tarballs. */
export async function createProject(
  folder: string,
  packages: readonly Packed[],
  beside: Readonly<Record<string, string>>,
): Promise<void> {
  const dependencies = {
    ...Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`])),
    ...beside,
    '@types/node': testedVersion('@types/node'),
  };
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  );
}

export function install(project: string): Promise<string> {
  return run('npm', ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], project);
}

/**
 * Compiles programs of `consumer/` in `folder`, a folder of the project, into its folder `built`: strictly, and with the
 * declarations of all libraries checked.
 */
export async function compile(
  folder: string,
  programs: readonly string[],
  compilerOptions: Readonly<Record<string, unknown>>,
  type: 'module' | 'commonjs',
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type }));
  for (const program of [...programs, 'exactly', 'shop-inbox']) {
    await cp(join(import.meta.dirname, 'consumer', `${program}.ts`), join(folder, `${program}.ts`));
  }
  const options = {
    target: 'ES2023',
    rewriteRelativeImportExtensions: true,
    strict: true,
    // The libraries of TypeScript itself: a second of each compilation.
    skipDefaultLibCheck: true,
    types: ['node'],
    rootDir: '.',
    outDir: 'built',
    ...compilerOptions,
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: programs.map((program) => `${program}.ts`) }),
  );
  try {
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder);
  } catch (error) {
    // Other packages' declarations of some versions do not compile. Ours must.
    const errors = String(error).matchAll(/^(\S+)\(\d+,\d+\): error .*$/gm);
    const ours = [...errors].filter(
      ([, file]) => !/node_modules\/(?!@webhook-backpressure\/)/.test(file ?? ''),
    );
    if (ours.length > 0) throw error;
  }
}

/**
 * Runs programs in `folder`, a path in the project, one after the other in one process of `node`, a command with its flags,
 * and expects what all report.
 */
export async function expectReports(
  project: string,
  folder: string,
  programs: readonly string[],
  extension = 'js',
  node: readonly string[] = [process.execPath],
): Promise<void> {
  const files = Object.fromEntries(programs.map((one) => [one, `./${folder}/${one}.${extension}`]));
  const script = `(async () => {
    const reports = {};
    for (const [program, file] of Object.entries(${JSON.stringify(files)}))
      reports[program] = await import(file).then(({ main }) => main()).catch(String);
    console.log(JSON.stringify(reports));
  })()`;
  const [program = '', ...flags] = node;
  const reports: unknown = JSON.parse(await run(program, [...flags, '-e', script], project));
  expect(reports).toEqual(Object.fromEntries(programs.map((one) => [one, REPORT])));
}
