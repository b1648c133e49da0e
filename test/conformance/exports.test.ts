import * as core from '@webhook-backpressure/core';
import * as honoOnNode from '@webhook-backpressure/hono/node';
import * as node from '@webhook-backpressure/node';
import { describe, expect, it } from 'vitest';
import { adapters } from '../../tooling/packages.js';

const { closeOnSignals, processPressure } = node;

/** What an app on Node imports instead of the main entry, which then runs elsewhere too: for `web`, another package. */
const ON_NODE: Readonly<Record<string, object>> = { hono: honoOnNode, web: node };

// With pnpm an app can import only the packages that it depends on itself.
describe.each(adapters())('the package $folder', ({ folder, manifest: { name } }) => {
  it('exports everything that core exports', async () => {
    expect(await import(name)).toMatchObject(core);
  });

  it('exports what an app on Node needs to shut down and to measure its process', async () => {
    const adapter = (await import(name)) as { readiness: unknown };
    expect(ON_NODE[folder] ?? adapter).toMatchObject({ closeOnSignals, processPressure });
    expect(adapter.readiness).toBeTypeOf('function');
  });

  it('exports the inbox, workers and stores from its entry for the inbox', async () => {
    const names = ['webhookInbox', 'createWorker', 'memoryStore', 'verifiers', 'throwing'];
    expect(Object.keys((await import(`${name}/inbox`)) as object)).toEqual(expect.arrayContaining(names));
  });
});
