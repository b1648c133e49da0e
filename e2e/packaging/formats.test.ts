import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { testedVersion } from './packed.ts';
import { besideSqlite, compile, createProject, install, expectReports, REPORT } from './project.ts';
import { run } from '../../test/examples/run.ts';
import { isPostgresSkipped } from './servers.ts';
import { tools } from './tools.ts';

/** Programs of `consumer/` that bundlers and Jest run: they do not start the thread of the SQLite store. */
const BUNDLED = ['node', 'express', 'koa', 'hono', 'web', 'prometheus', 'dashboard'];
const PROGRAMS = [...BUNDLED, 'sqlite', ...(isPostgresSkipped ? [] : ['postgres'])];
/** Mode node16 and consumer.test.ts check the declarations themselves, those of both formats. */
const CHECKED = { skipLibCheck: true };
const EXTENSIONS = { es: 'mjs', cjs: 'cjs' } as const;

/** ES modules compile in consumer.test.ts. */
const modes = [
  { mode: 'node16', type: 'commonjs', compilerOptions: { module: 'Node16' } },
  {
    mode: 'node10',
    type: 'commonjs',
    compilerOptions: {
      module: 'CommonJS',
      moduleResolution: 'node10',
      ignoreDeprecations: '6.0',
      ...CHECKED,
    },
  },
] as const;

// Jest resolves and loads only CommonJS.
const JEST_TEST = `
test('loads the CommonJS module', () => {
  expect(require.resolve('@webhook-backpressure/core')).toMatch(/index\\.cjs$/);
});
test.each(${JSON.stringify(BUNDLED)})('runs the %s program', async (program) => {
  expect(await require('./built/' + program + '.js').main()).toEqual(${JSON.stringify(REPORT)});
});
test('shares the error class between the packages', () => {
  const { BackpressureError } = require('@webhook-backpressure/core');
  const { webhookBackpressure } = require('@webhook-backpressure/express');
  expect(() => webhookBackpressure({ capacity: -1 })).toThrow(BackpressureError);
});
`;

/** What an ES module imports and a CommonJS one requires must be the same. */
const ONE_STATE = {
  'required.cjs': `
exports.core = {
  ...require('@webhook-backpressure/core'),
  ...require('@webhook-backpressure/core/middleware'),
};
exports.express = require('@webhook-backpressure/express');
`,
  'one-state.js': `
import { once } from 'node:events';
import framework from 'express';
import * as main from '@webhook-backpressure/core';
import * as middleware from '@webhook-backpressure/core/middleware';
import * as express from '@webhook-backpressure/express';
import required from './required.cjs';

const core = { ...main, ...middleware };

function isKnown(express, { BackpressureError }) {
  try {
    express.webhookBackpressure({ capacity: -1 });
  } catch (error) {
    return error instanceof BackpressureError;
  }
}
// closeOnSignals reads the registry of probed intakes.
function isRegistered(express, { createIntake, isProbed }) {
  const intake = createIntake();
  express.readiness(intake);
  return isProbed(intake);
}
// A request that both have seen takes one permit: a second one would wait for the first.
async function passesOnce(first, second) {
  const app = framework();
  const guard = first.webhookBackpressure({ concurrency: 1, maxWaitMs: 100 });
  app.use(guard, second.webhookBackpressure({ intake: guard.intake }), (_req, res) => res.end());
  const server = app.listen(0);
  await once(server, 'listening');
  const { status } = await fetch('http://localhost:' + server.address().port, { method: 'POST' });
  server.close();
  return status === 200;
}
function drains({ beginDraining }, { createIntake, createReadiness }) {
  const intake = createIntake();
  beginDraining(intake);
  return createReadiness(intake).status() === 'draining';
}
console.log(JSON.stringify({
  requests: [await passesOnce(required.express, express), await passesOnce(express, required.express)],
  draining: [drains(required.core, core), drains(core, required.core)],
  errors: [isKnown(required.express, core), isKnown(express, required.core)],
  registries: [isRegistered(required.express, core), isRegistered(express, required.core)],
}));
`,
};

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-formats-'));
const packages = inject('packed');
const project = join(folder, 'project');

const frameworks = Object.fromEntries(
  ['express', '@types/express', 'koa', '@types/koa', 'hono', 'prom-client', 'pg', '@types/pg'].map((name) => [
    name,
    testedVersion(name),
  ]),
);

beforeAll(async () => {
  await createProject(project, packages, { ...frameworks, ...besideSqlite });
  await install(project);
});

afterAll(() => rm(folder, { recursive: true }));

describe.each(modes)('TypeScript in mode $mode, "type": "$type"', ({ mode, type, compilerOptions }) => {
  const name = `${mode}-${type}`;

  beforeAll(() => compile(join(project, name), PROGRAMS, compilerOptions, type));

  it('runs every program', async () => {
    await expectReports(project, `${name}/built`, PROGRAMS);
  });

  if (mode === 'node10') {
    it('runs in Jest 29', async () => {
      const { jest } = tools;
      await writeFile(join(project, name, 'programs.test.js'), JEST_TEST);
      const args = [jest, '--rootDir', '.', '--config', '{}', '--forceExit'];
      await run(process.execPath, args, join(project, name));
    });
  }
});

describe('TypeScript in mode bundler', () => {
  const source = join(project, 'bundler');

  beforeAll(() => {
    const compilerOptions = { module: 'ESNext', moduleResolution: 'bundler', noEmit: true, ...CHECKED };
    return compile(source, PROGRAMS, compilerOptions, 'module');
  });

  it.each(['es', 'cjs'] as const)('runs every program when bundled to format %s', async (format) => {
    const input = Object.fromEntries(BUNDLED.map((program) => [program, join(source, `${program}.ts`)]));
    await bundle(input, join(source, format), format);
    await expectReports(source, format, BUNDLED, EXTENSIONS[format]);
  });
});

describe('an app that imports a package and requires it', () => {
  const both = [true, true];
  const shared = { requests: both, draining: both, errors: both, registries: both };

  beforeAll(async () => {
    for (const [file, text] of Object.entries(ONE_STATE)) await writeFile(join(project, file), text);
  });

  it('shares errors, requests and registries', async () => {
    expect(JSON.parse(await run(process.execPath, ['one-state.js'], project))).toEqual(shared);
  });

  // As Node 22.0 to 22.11: the package is loaded twice.
  it('shares them where Node cannot require ES modules', async () => {
    const args = ['--no-experimental-require-module', 'one-state.js'];
    expect(JSON.parse(await run(process.execPath, args, project))).toEqual(shared);
  });

  it('shares them in a bundle', async () => {
    await bundle({ bundled: join(project, 'one-state.js') }, join(project, 'dist'), 'es');
    expect(JSON.parse(await run(process.execPath, ['dist/bundled.mjs'], project))).toEqual(shared);
  });
});

async function bundle(input: Record<string, string>, dir: string, format: 'es' | 'cjs'): Promise<void> {
  const build = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await build.write({
    dir,
    format,
    entryFileNames: `[name].${EXTENSIONS[format]}`,
    chunkFileNames: `[name].${EXTENSIONS[format]}`,
  });
  await build.close();
}
