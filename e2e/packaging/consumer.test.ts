import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapters } from '../../tooling/packages.js';
import { packAll, testedVersion, type Packed } from './packed.ts';
import { besideSqlite, compile, createProject, install, report, REPORT } from './project.ts';
import { run } from '../../test/examples/run.ts';
import { isPostgresSkipped, isRedisSkipped } from './servers.ts';

interface Project {
  /** The package it uses, and the program of `consumer/` that uses it. */
  readonly uses: string;
  /** Another of our packages that the program uses. */
  readonly with?: string;
  /** What else it installs, with the versions. */
  readonly beside: Readonly<Record<string, string>>;
}

// A project for each framework, as users have: two frameworks in one would share, and break, each other's types.
const projects: readonly Project[] = [
  { uses: 'node', beside: {} },
  { uses: 'sqlite', with: 'node', beside: besideSqlite },
  { uses: 'dashboard', with: 'node', beside: {} },
  {
    uses: 'otel',
    with: 'node',
    beside: {
      '@opentelemetry/api': testedVersion('@opentelemetry/api'),
      '@opentelemetry/sdk-metrics': testedVersion('@opentelemetry/sdk-metrics'),
    },
  },
  // The lowest version of the API, and the first SDK for it that takes readers as an option.
  {
    uses: 'otel',
    with: 'node',
    beside: { '@opentelemetry/api': '1.7.0', '@opentelemetry/sdk-metrics': '1.21.0' },
  },
  {
    uses: 'express',
    beside: { express: testedVersion('express'), '@types/express': testedVersion('@types/express') },
  },
  { uses: 'express', beside: { express: testedVersion('express4'), '@types/express': '^4.17.17' } },
  { uses: 'koa', beside: { koa: testedVersion('koa'), '@types/koa': testedVersion('@types/koa') } },
  { uses: 'koa', beside: { koa: testedVersion('koa2'), '@types/koa': '^2.13.0' } },
  { uses: 'fastify', beside: { fastify: testedVersion('fastify') } },
  // The types of Fastify 4.0 have errors. The conformance suite runs on 4.0.
  { uses: 'fastify', beside: { fastify: '4.29.1' } },
  { uses: 'hono', beside: { hono: testedVersion('hono') } },
  { uses: 'hono', beside: { hono: testedVersion('hono40') } },
  { uses: 'sender', with: 'node', beside: {} },
  { uses: 'reconcile', with: 'node', beside: {} },
  { uses: 'planner', beside: {} },
  { uses: 'fire', beside: {} },
  { uses: 'create', beside: {} },
  { uses: 'prometheus', with: 'node', beside: { 'prom-client': testedVersion('prom-client') } },
  { uses: 'prometheus', with: 'node', beside: { 'prom-client': testedVersion('prom-client150') } },
];

const withPostgres: readonly Project[] = [
  {
    uses: 'postgres',
    with: 'node',
    beside: { pg: testedVersion('pg'), '@types/pg': testedVersion('@types/pg') },
  },
  { uses: 'postgres', with: 'node', beside: { pg: '8.11.0', '@types/pg': '8.10.2' } },
];
const withRedis: readonly Project[] = [
  {
    uses: 'redis',
    with: 'node',
    beside: { ioredis: testedVersion('ioredis'), redis: testedVersion('redis') },
  },
  { uses: 'redis', with: 'node', beside: { ioredis: '5.3.0', redis: '4.0.0' } },
  {
    uses: 'bullmq',
    with: 'node',
    beside: { bullmq: testedVersion('bullmq'), ioredis: testedVersion('ioredis') },
  },
  { uses: 'bullmq', with: 'node', beside: { bullmq: testedVersion('bullmq5') } },
];
/** Adapters that are not listed above, each with its framework in the version of the tests. */
const others = adapters()
  .filter(({ folder }) => !projects.some(({ uses }) => uses === folder))
  .map(({ folder, manifest: { peerDependencies = {} } }): Project => {
    const peers = Object.keys(peerDependencies).map((name) => [name, testedVersion(name)] as const);
    return { uses: folder, beside: Object.fromEntries(peers) };
  });
const all = [
  ...projects,
  ...others,
  ...(isPostgresSkipped ? [] : withPostgres),
  ...(isRedisSkipped ? [] : withRedis),
];

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-consumer-'));
const packages = await packAll(folder);

afterAll(() => rm(folder, { recursive: true }));

describe.each(all)('a project that uses $uses beside $beside', ({ uses, with: other, beside }) => {
  const project = join(folder, [uses, ...Object.values(beside)].join('-').replaceAll('^', ''));
  const installed = withDependencies(uses, other);

  beforeAll(async () => {
    await createProject(project, installed, beside);
    await install(project);
  });

  it('gives the same names to import and to require', async () => {
    const names = '(loaded) => Object.keys(loaded).filter((name) => name !== "__esModule").sort()';
    const load = async (type: string, how: string) => {
      const pairs = installed
        .flatMap((one) => one.specifiers)
        .map((specifier) => `['${specifier}', names(${how}('${specifier}'))]`);
      const script = `const names = ${names}; console.log(JSON.stringify([${pairs.join()}]))`;
      return JSON.parse(
        await run(process.execPath, [`--input-type=${type}`, '-e', script], project),
      ) as unknown;
    };
    const imported = await load('module', 'await import');
    expect(imported).not.toContainEqual([expect.any(String), []]);
    expect(await load('commonjs', 'require')).toEqual(imported);
  });

  it('compiles strictly, without a cast and with all libraries checked, and answers a delivery', async () => {
    await compile(join(project, 'program'), [uses], { module: 'NodeNext' }, 'module');
    expect(await report(project, `program/built/${uses}.js`)).toEqual(REPORT);
  });
});

/** The packages in these folders of `packages/`, and those of ours that they need. */
function withDependencies(uses: string, other?: string): Packed[] {
  const needs = [uses, ...(other === undefined ? [] : [other])].flatMap((folder) => packageIn(folder).needs);
  return packages.filter(({ name }) => needs.includes(name));
}

function packageIn(name: string): Packed {
  const found = packages.find((one) => one.folder === name);
  if (found === undefined) throw new Error(`There is no package in packages/${name}.`);
  return found;
}
