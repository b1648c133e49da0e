import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../../../../tooling/packages.js';

/** Awaits only the redrive, and there is no room for all of them. */
const SCRIPT = `
import { createInbox, memoryStore } from '${pathToFileURL(join(root, 'packages/inbox/dist/index.js')).href}';
const inbox = createInbox({
  store: memoryStore(),
  verify: false,
  process: () => new Promise((resolve) => setTimeout(resolve, 10)),
  overflow: 'dead-letter',
  capacity: 20, highWaterMark: 0.75, lowWaterMark: 0.5, concurrency: 1,
});
const read = async (body) => (body.add(new Uint8Array([1])), 'whole');
for (let id = 0; id < 60; id += 1) {
  const headers = { 'webhook-id': String(id) };
  await inbox.receive({ headers, read, hint: '', method: 'POST', url: '/', params: {} });
}
const { deadLetters } = inbox.snapshot();
console.log(deadLetters > 20 && (await inbox.deadLetters.redrive('all')) === deadLetters);
`;

it('keeps a script alive that awaits only a redrive', async () => {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  expect(stdout).toBe('true\n');
});
