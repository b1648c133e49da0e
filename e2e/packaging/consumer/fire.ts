import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fire, type Report } from '@webhook-backpressure/fire';
import type { Exactly } from './exactly.ts';

export async function main(): Promise<unknown> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const report = await fire([url, '--as', 'stripe', '--burst', '5/100ms']);
  const isReport: Exactly<typeof report, Report> = true;
  server.close();

  const tool = ['node_modules/.bin/webhook-backpressure-fire', '--help'];
  const help = execFileSync(process.execPath, tool, { encoding: 'utf8' });
  return {
    middleware: { key: 'shop-1', typed: isReport, depth: report.lost },
    inbox: {
      status: help.includes('--as LIST') ? 200 : 500,
      completed: 'evt_1',
      typed: report.delivered === 5,
    },
  };
}
