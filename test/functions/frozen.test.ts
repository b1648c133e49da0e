import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { isSkipped, PostgresBed } from '../postgres/bed.ts';

describe.skipIf(isSkipped || process.platform === 'win32')('a function that receives into PostgreSQL', () => {
  const bed = new PostgresBed({ pooled: true });
  let child: ChildProcess | undefined;

  afterAll(async () => {
    child?.kill('SIGKILL');
    await bed.dispose();
  });

  it('stores the next delivery after its instance was frozen and its connections have been closed', async () => {
    const started = spawn(process.execPath, [`${import.meta.dirname}/children/function.js`], {
      env: { ...process.env, DATABASE_URL: bed.connectionString, SCHEMA: bed.schema, PGAPPNAME: bed.schema },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child = started;
    const lines = createInterface({ input: started.stdout });
    const next = async (): Promise<unknown> => ((await once(lines, 'line')) as unknown[])[0];
    const invoke = (id: string): Promise<unknown> => {
      const status = next();
      started.stdin.write(`${id}\n`);
      return status;
    };
    expect(await next()).toBe('open');
    expect(await invoke('a')).toBe('200');

    started.kill('SIGSTOP');
    // Waits until they are closed: the instance must find the end of its connections before the next delivery.
    const { rows } = await bed.pool.query(
      'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1',
      [bed.schema],
    );
    expect(rows.length).toBeGreaterThan(0);
    started.kill('SIGCONT');
    expect(await invoke('b')).toBe('200');
  });
});
