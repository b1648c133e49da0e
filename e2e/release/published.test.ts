import { describe, expect, inject, it } from 'vitest';
import { SCOPE } from './scope.ts';

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly dist: { readonly integrity: string };
}
interface Packument {
  readonly 'dist-tags': Record<string, string>;
  readonly versions: Record<string, Manifest>;
}

const { registry, packages, versions, outputs } = inject('rehearsal');
const released = packages.map(({ name }) => `${name}@${versions.released}`);

async function packumentOf(name: string): Promise<Packument> {
  const response = await fetch(registry + encodeURIComponent(name));
  expect(response.status).toBe(200);
  return (await response.json()) as Packument;
}

it('publishes all packages in one run, and tags each', () => {
  const tagged = outputs[0].matchAll(/New tag:\s+(\S+)/g);
  expect([...tagged].map(([, tag]) => tag).sort()).toEqual(released.sort());
});

it('publishes nothing in a second run', () => {
  const publishing = (output: string): number => [...output.matchAll(/ Publishing /g)].length;
  expect(outputs.map(publishing)).toEqual([packages.length, 0]);
  expect(outputs[1]).not.toContain('New tag:');
});

describe.each(packages)('$name in the registry', ({ name, integrity }) => {
  it('is the tarball that npm pack made', async () => {
    const { versions: published } = await packumentOf(name);
    expect(Object.keys(published)).toEqual([versions.released]);
    expect(published[versions.released]?.dist.integrity).toBe(integrity);
  });

  it('is the latest version', async () => {
    expect((await packumentOf(name))['dist-tags']).toEqual({ latest: versions.released });
  });

  it('needs our packages of the same version, and others by ranges of versions', async () => {
    const { versions: published } = await packumentOf(name);
    const { dependencies, peerDependencies } = published[versions.released] as Manifest;
    for (const [needed, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
      if (needed.startsWith(SCOPE)) expect([needed, range]).toEqual([needed, versions.released]);
      else expect([needed, range]).toEqual([needed, expect.stringMatching(/^[\^~>=]+\d[\d.<>=^~| ]*$/)]);
    }
    expect(Object.keys(peerDependencies ?? {}).filter((peer) => peer.startsWith(SCOPE))).toEqual([]);
  });
});
