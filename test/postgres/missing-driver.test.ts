import { describe, expect, it, vi } from 'vitest';
import { postgresSchema, postgresStore } from '@webhook-backpressure/postgres';
import { runTool } from '@webhook-backpressure/inbox/tool';
import { parseArgs } from 'node:util';
import { target } from '../../packages/postgres/src/cli/target.ts';

vi.mock('pg', () => {
  throw new Error("Cannot find package 'pg'");
});

const CODE = 'ERR_WBP_POSTGRES_CONNECTION';

/** Runs the tool, and returns what it prints. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: '', err: '' };
  const code = await runTool(args, target, parseArgs, {
    out: (text) => (texts.out += text),
    err: (text) => (texts.err += text),
  });
  return { code, ...texts };
}

describe('without the package pg', () => {
  it('rejects open with an error that says what to install', async () => {
    const store = postgresStore({ connectionString: 'postgres://nowhere.invalid/' });
    await expect(store.open(Date.now())).rejects.toMatchObject({
      code: CODE,
      message: expect.stringContaining('npm install pg') as unknown,
    });
  });

  it('prints the schema, and reports the missing package for other commands', async () => {
    expect((await run('schema')).out).toContain(postgresSchema().slice(0, 100));
    const { code, err } = await run('status', 'postgres://nowhere.invalid/');
    expect(code).toBe(1);
    expect(err).toContain(CODE);
  });
});
