import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { adapters } from '../../tooling/packages.js';
import { testedVersion, type Packed } from './packed.ts';
import { besideSqlite, compile, createProject, install, expectReports } from './project.ts';
import { run } from '../../test/examples/run.ts';
import { isPostgresSkipped, isRedisSkipped } from './servers.ts';

interface Project {
  /** The packages it uses, each with its program of `consumer/`. */
  readonly uses: readonly string[];
  /** What else it installs, with the versions. */
  readonly beside: Readonly<Record<string, string>>;
}

const tested = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, testedVersion(name)]));

const postgres = isPostgresSkipped ? [] : ['postgres'];
const redis = isRedisSkipped ? [] : ['redis', 'bullmq'];

// A project for each framework, as users have: two frameworks in one would share, and break, each other's types.
const newest: readonly Project[] = [
  // On node:http: packages that change no types of each other share a project, which saves an installation for each.
  {
    uses: [
      ...[
        'node',
        'sqlite',
        'dashboard',
        'otel',
        'prometheus',
        'sender',
        'reconcile',
        'planner',
        'fire',
        'create',
      ],
      ...postgres,
      ...redis,
    ],
    beside: {
      ...besideSqlite,
      ...tested('@opentelemetry/api', '@opentelemetry/sdk-metrics', 'prom-client'),
      ...tested('pg', '@types/pg', 'ioredis', 'redis', 'bullmq'),
    },
  },
  { uses: ['express'], beside: tested('express', '@types/express') },
  { uses: ['koa'], beside: tested('koa', '@types/koa') },
  { uses: ['fastify'], beside: tested('fastify') },
  { uses: ['hono'], beside: tested('hono') },
];

/** Only in `--mode long`, since compiling each takes 10 to 20 s. The workflows use it. */
const oldest: readonly Project[] = [
  {
    uses: ['node', 'otel', 'prometheus', ...postgres, ...redis],
    beside: {
      // The lowest version of the API, and the first SDK for it that takes readers as an option.
      '@opentelemetry/api': '1.7.0',
      '@opentelemetry/sdk-metrics': '1.21.0',
      'prom-client': testedVersion('prom-client150'),
      pg: '8.11.0',
      '@types/pg': '8.10.2',
      ioredis: '5.3.0',
      redis: '4.0.0',
      bullmq: testedVersion('bullmq5'),
    },
  },
  { uses: ['express'], beside: { express: testedVersion('express4'), '@types/express': '^4.17.17' } },
  { uses: ['koa'], beside: { koa: testedVersion('koa2'), '@types/koa': '^2.13.0' } },
  // The types of Fastify 4.0 have errors. The conformance suite runs on 4.0.
  { uses: ['fastify'], beside: { fastify: '4.29.1' } },
  { uses: ['hono'], beside: { hono: testedVersion('hono40') } },
];
const listed = [...newest, ...(inject('isLong') ? oldest : [])];

/** Adapters that are not listed above, each with its framework in the version of the tests. */
const others = adapters()
  .filter(({ folder }) => !listed.some(({ uses }) => uses.includes(folder)))
  .map(({ folder, manifest: { peerDependencies = {} } }): Project => {
    return { uses: [folder], beside: tested(...Object.keys(peerDependencies)) };
  });

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-consumer-'));
const packages = inject('packed');

afterAll(() => rm(folder, { recursive: true }));

describe.each([...listed, ...others])('a project that uses $uses beside $beside', ({ uses, beside }) => {
  const project = join(folder, [...uses, ...Object.values(beside)].join('-').replaceAll(/[^a-z0-9.-]/g, ''));
  const needs = new Set(uses.flatMap((one) => packageIn(one).needs));
  const installed = packages.filter(({ name }) => needs.has(name));

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

  it('compiles strictly, without a cast and with all libraries checked', async () => {
    await compile(join(project, 'program'), uses, { module: 'NodeNext' }, 'module');
  });

  it('answers a delivery by each', async () => {
    await expectReports(project, 'program/built', uses);
  });
});

function packageIn(name: string): Packed {
  const found = packages.find((one) => one.folder === name);
  if (found === undefined) throw new Error(`There is no package in packages/${name}.`);
  return found;
}
