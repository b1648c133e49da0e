import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tested } from './hosts.ts';
import { buildLogOf } from './tools.js';

/** Kinds of hosts whose builds load the modules of routes. The others load them when the server starts or is called. */
const LOADING = ['next', 'sveltekit'];

describe.each(tested)('the build of an app of $name', (host) => {
  it('leaves the store of an inbox closed', () => {
    const log = buildLogOf(host);
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    expect(new Set(lines)).toEqual(new Set(LOADING.includes(host.kind) ? ['loaded'] : []));
  });
});
