import { execFileSync, type StdioOptions } from 'node:child_process';
import { createRequire } from 'node:module';
import { fire, type Report } from '@webhook-backpressure/fire';
import { progress, textOption } from '../command-line.ts';
import { Pinned, SERVER_CORE } from '../pinned.ts';
import {
  BURST,
  type Framework,
  FRAMEWORKS,
  HANDLING_MS,
  NEXT_APP,
  type Protection,
  PROTECTIONS,
  SENDERS,
  WARM_UP,
  WORKERS,
} from './setup.ts';

/** Fires at an app without and with protection in each framework, and prints what was predicted beside it, as Markdown. */
const only = textOption('only');
const rows = [
  '| App | Delivered | Predicted | Lost | Predicted | Attempts | Predicted |',
  '| --- | --- | --- | --- | --- | --- | --- |',
];
if (only === undefined || only === 'Next.js') {
  const program = createRequire(import.meta.url).resolve('next/dist/bin/next');
  // Its output would mix with the table.
  const stdio: StdioOptions = ['ignore', 2, 2];
  const env = { ...process.env, NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1' };
  execFileSync(process.execPath, [program, 'build', NEXT_APP], { stdio, env });
}
for (const framework of FRAMEWORKS)
  for (const protection of PROTECTIONS) {
    if (only !== undefined && only !== framework) continue;
    const report = await fireAt(framework, protection);
    const predicted = report.predicted?.find(({ mode }) => mode === protection);
    const pairs = (['delivered', 'lost', 'attempts'] as const).flatMap((one) => [
      report[one],
      predicted?.[one] ?? NaN,
    ]);
    const cells = pairs.map((value) => value.toLocaleString('en-US'));
    progress(`${framework} ${protection}: ${JSON.stringify(report)}`);
    rows.push(`| ${[`${framework}, ${protection}`, ...cells].join(' | ')} |`);
  }
process.stdout.write(`${rows.join('\n')}\n`);

async function fireAt(framework: Framework, protection: Protection): Promise<Report> {
  const server = new Pinned('fire/receiver-child.js', [framework, protection], { core: SERVER_CORE });
  try {
    const port = await server.ask<number>('start');
    const url = `http://127.0.0.1:${String(port)}/webhooks`;
    const service = ['--service', `${String(HANDLING_MS)}ms:constant`, '--concurrency', String(WORKERS)];
    await fire([url, ...SENDERS, ...WARM_UP]);
    return await fire([url, ...SENDERS, ...BURST, ...service]);
  } finally {
    await server.stop();
  }
}
