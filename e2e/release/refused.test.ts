import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { run } from '../../test/examples/run.ts';
import { NODE_AND_NPM, Project } from './project.ts';
import { publish } from './publish.ts';
import { Registry } from './registry.ts';
import { SCOPE } from './scope.ts';

const rehearsal = inject('rehearsal');
const { repository, packages, versions } = rehearsal;
const folder = join(rehearsal.folder, 'refused');
// Every other package needs it.
const core = `${SCOPE}/core`;
const released = packages.map(({ name }) => `${name}@${versions.released}`).sort();
let registry: Registry;

const changesets = (): Promise<string> =>
  publish('npx', ['changeset', 'publish'], { repository, registry: registry.url, folder });

async function tags(): Promise<string[]> {
  return (await run('git', ['tag'], repository)).trim().split('\n').sort();
}

async function installs(name: string): Promise<string> {
  const project = await Project.create(folder, registry.url, NODE_AND_NPM[2]);
  return project.sh(`npm install ${name}`);
}

beforeAll(async () => {
  await mkdir(join(folder, 'storage'), { recursive: true });
  registry = await Registry.start(join(folder, 'storage'));
  // As in the fresh clone of a workflow.
  await run('git', ['tag', '--delete', ...released], repository);
});

afterAll(() => {
  registry.stop();
});

it('publishes the other packages and fails when the registry refuses one', async () => {
  registry.refused.add(core);
  await expect(changesets()).rejects.toThrow(`${core}@${versions.released}`);
  expect(await tags()).toEqual(released.filter((tag) => !tag.startsWith(core)));
});

it('leaves packages that cannot be installed until the refused one is there', async () => {
  await expect(installs(`${SCOPE}/node`)).rejects.toThrow(core);
});

it('publishes only the missing package in the next run, and all can be installed', async () => {
  registry.refused.clear();
  const output = await changesets();
  expect([...output.matchAll(/New tag:\s+(\S+)/g)].map(([, tag]) => tag)).toEqual([
    `${core}@${versions.released}`,
  ]);
  expect(await tags()).toEqual(released);
  await installs(`${SCOPE}/node`);
});
