import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { adapters } from '../../tooling/packages.js';
import { testedVersion } from '../packaging/packed.ts';
import { compile, expectReports } from '../packaging/project.ts';
import { NODE_AND_NPM, Project } from './project.ts';
import { UNSCOPED } from './scope.ts';

const { folder, registry, packages: all } = inject('rehearsal');
// npm finds packages without our scope elsewhere.
const packages = all.filter(({ name }) => name !== UNSCOPED);

/** Programs of `e2e/packaging/consumer` that need no server. */
const PROGRAMS = [
  ...adapters().map(({ folder }) => folder),
  ...['dashboard', 'fire', 'otel', 'planner', 'prometheus', 'reconcile', 'sender', 'sqlite'],
];
/** What the programs use beside our packages; npm also installs what our packages need as peers. */
const BESIDE = [
  '@types/express',
  '@types/koa',
  '@types/node',
  '@types/pg',
  '@opentelemetry/sdk-metrics',
  'libsql',
];

describe.each(NODE_AND_NPM)('an empty project on Node.js $node with npm $npm', (version) => {
  let project: Project;

  beforeAll(async () => {
    project = await Project.create(folder, registry, version);
    const beside = BESIDE.map((name) => `${name}@${testedVersion(name)}`);
    await project.sh(`npm install --no-audit ${[...packages.map(({ name }) => name), ...beside].join(' ')}`);
  });

  it('leaves no problem in the tree of dependencies', async () => {
    const installed = JSON.parse(await project.sh('npm ls --all --json')) as { problems?: string[] };
    expect(installed.problems).toBeUndefined();
  });

  it('gives the same names to import and to require', async () => {
    const specifiers = JSON.stringify(packages.flatMap((one) => one.specifiers));
    const names = '(loaded) => Object.keys(loaded).filter((name) => name !== "__esModule").sort()';
    const load = async (file: string, how: string): Promise<Record<string, string[]>> => {
      await project.write(
        file,
        `(async () => {
  const all = {};
  for (const name of ${specifiers}) all[name] = (${names})(${how}(name));
  console.log(JSON.stringify(all));
})();`,
      );
      return JSON.parse(await project.sh(`node ${file}`)) as Record<string, string[]>;
    };
    const imported = await load('imports.mjs', 'await import');
    expect(Object.entries(imported).filter(([, found]) => found.length === 0)).toEqual([]);
    expect(await load('requires.cjs', 'require')).toEqual(imported);
  });

  it('compiles programs strictly, and runs them', async () => {
    await compile(join(project.folder, 'program'), PROGRAMS, { module: 'NodeNext' }, 'module');
    await expectReports(project.folder, 'program/built', PROGRAMS, 'js', [project.node]);
  });
});
