import { BackpressureError, createIntake } from '@webhook-backpressure/core';
import * as honoOnNode from '@webhook-backpressure/hono/node';
import * as node from '@webhook-backpressure/node';
import { known } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { adapters } from '../../tooling/packages.js';

const { closeOnSignals, processPressure } = node;

/** What an app on Node imports instead of the main entry, which then runs elsewhere too: for `web`, another package. */
const ON_NODE: Readonly<Record<string, object>> = { hono: honoOnNode, web: node };

const SHARED = ['BackpressureError', 'createIntake', 'known', 'readiness'];
/** What only some adapters have, or call otherwise. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  node: ['withBackpressure'],
  web: ['withBackpressure', 'default', 'backpressureOf'],
};
const INBOX = [
  'RetryAfter',
  'Unrecoverable',
  'createWorker',
  'memoryStore',
  'throwing',
  'verifiers',
  'webhookInbox',
];

// With pnpm an app can import only the packages that it depends on itself.
describe.each(adapters())('the package $folder', ({ folder, manifest: { name } }) => {
  it('exports what an app calls, and nothing else', async () => {
    const adapter = (await import(name)) as object;
    const own = OWN[folder] ?? ['webhookBackpressure', 'default'];
    const onNode = folder in ON_NODE ? [] : ['closeOnSignals', 'processPressure'];
    expect(Object.keys(adapter).sort()).toEqual([...SHARED, ...own, ...onNode].sort());
    expect(adapter).toMatchObject({ BackpressureError, createIntake, known });
  });

  it('exports what an app on Node needs to shut down and to measure its process', async () => {
    const adapter = (await import(name)) as object;
    expect(ON_NODE[folder] ?? adapter).toMatchObject({ closeOnSignals, processPressure });
  });

  it('exports the inbox, workers and stores from its entry for the inbox', async () => {
    expect(Object.keys((await import(`${name}/inbox`)) as object).sort()).toEqual(INBOX);
  });
});
