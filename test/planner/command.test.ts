import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { builtInSenders } from '@webhook-backpressure/senders';
import { plan } from '@webhook-backpressure/planner';
import { runCli } from '../../packages/planner/src/cli/run-cli.ts';
import { renderAnswer } from '../../packages/planner/src/output/terminal.ts';

const SMALL = '--senders github:0.8,svix:0.2 --service 50ms --concurrency 2 --burst 400/3s';

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-planner-'));

afterAll(() => rm(folder, { recursive: true }));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(line: string, { msPerLook = 0 } = {}): Promise<Ran> {
  let out = '';
  let err = '';
  let ms = 0;
  const code = await runCli(line.split(' '), {
    out: (text) => (out += text),
    err: (text) => (err += `${text}\n`),
    terminal: { columns: 100, isColored: false },
    version: '1.2.3',
    now: () => (ms += msPerLook),
  });
  return { code, out, err };
}

const printed = await run(SMALL);
const planned = await plan({
  senders: [
    { profile: 'github', share: 0.8 },
    { profile: 'svix', share: 0.2 },
  ],
  service: { meanMs: 50 },
  concurrency: 2,
  burst: { events: 400, seconds: 3 },
});

describe('the command of the planner', () => {
  it('prints a table with a line for each run and sender, and a recommendation', () => {
    expect(printed).toMatchObject({ code: 0, err: '' });
    const [title, , head, ...lines] = printed.out.split('\n');
    expect(title).toBe('400 deliveries in 3 s (github 80 %, svix 20 %). 2 handlers of 50 ms complete 40/s.');
    expect(head).toMatch(/^ +lost +attempts +p50 +p99 +burst done +queued +memory$/);
    const rows = lines.slice(0, lines.indexOf('')).map((line) => line.trim().split(/ {2,}/)[0]);
    expect(rows.filter((row) => row === 'github')).toHaveLength(rows.length / 3);
    expect(rows[0]).toBe('no middleware');
    expect(lines.find((line) => line.startsWith('inbox'))).toMatch(/ on disk$/);
    expect(printed.out).toMatch(
      /\n\* Recommended: (the inbox|hold requests)\n {2}webhook(Inbox|Backpressure)\(/,
    );
    expect(printed.out).toMatch(/\nWhy\n- /);
    expect(printed.out).toMatch(/\nTried \d+ configurations\.$/);
  });

  it.each([45, 60, 80])('fits into %i columns', (columns) => {
    const out = renderAnswer(planned, { columns, isColored: false });
    const tableAndText = out.split('\n').filter((line) => !line.startsWith('  webhook'));
    expect(Math.max(...tableAndText.map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(out).toContain('lost');
    expect(out).toContain('p99');
  });

  it('prints color only for a terminal', () => {
    expect(printed.out).not.toContain('\u001B');
    expect(renderAnswer(planned, { columns: 80, isColored: true })).toContain('\u001B[1m');
  });

  it('prints the plan as JSON', async () => {
    const { out } = await run(`${SMALL} --json`);
    expect(JSON.parse(out)).toEqual(planned);
  });

  it('writes a page that loads nothing and contains no script', async () => {
    const file = join(folder, 'plan.html');
    const { code, out } = await run(`${SMALL} --html ${file}`);
    const page = await readFile(file, 'utf8');
    expect(code).toBe(0);
    expect(out).toBe(printed.out);
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toMatch(/content="default-src 'none'; style-src 'sha256-[\w+/]+='">/);
    expect(page).not.toMatch(/<script|https?:|url\(|style="|NaN|undefined/);
    expect(page.match(/<figure/g)).toHaveLength(5);
    expect(page).toContain('Delay of github');
  });

  it('reports on standard error what takes longer than a second', async () => {
    const { out, err } = await run(SMALL, { msPerLook: 600 });
    expect(out).toBe(printed.out);
    expect(err.split('\n')).toEqual([
      'Simulating configuration 2: hold, concurrency: 2',
      'Simulating configuration 3: inbox, concurrency: 2',
      expect.stringMatching(/^Took 3 s\.$/),
      '',
    ]);
  });

  it('says what is wrong on standard error, with exit code 2', async () => {
    const { code, out, err } = await run('--senders githb --service 50ms --burst 10/1s');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^Unknown sender "githb"\. Did you mean "github"\?/);
    expect(err.trim()).not.toContain('\n');
  });

  it('says that a page cannot be written', async () => {
    const { code, err } = await run(`${SMALL} --html ${join(folder, 'absent', 'plan.html')}`);
    expect(code).toBe(2);
    expect(err).toMatch(/^The page cannot be written: ENOENT/);
  });

  it('prints help with every option and sender', async () => {
    const { code, out } = await run('--help');
    expect(code).toBe(0);
    for (const { name } of builtInSenders) expect(out).toContain(name);
    expect(out).toContain('--max-wait TIME');
    expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(120);
  });

  it('prints the version', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: '1.2.3', err: '' });
  });

  it('runs a scenario file', async () => {
    const file = join(folder, 'scenario.json');
    const scenario = {
      service: { meanMs: 1000 },
      intake: { capacity: 1, concurrency: 1 },
      policy: 'constant:5',
      arrivals: [{ fromS: 0, toS: 1, perSecond: 4 }],
      senders: [{ key: 'shop', retry: 'retry-after' }],
    };
    await writeFile(file, JSON.stringify(scenario));
    const { code, out } = await run(`simulate ${file}`);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ events: 4, delivered: 4, clearS: 7.5 });

    await writeFile(file, JSON.stringify({ ...scenario, seeds: 3 }));
    expect(await run(`simulate ${file}`)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^seeds is not a field of a scenario; known here: .*\.\n$/) as string,
    });
    expect(await run(`simulate ${join(folder, 'absent.json')}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not exist') as string,
    });
  });
});
