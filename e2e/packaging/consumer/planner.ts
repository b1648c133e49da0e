import { execFileSync } from 'node:child_process';
import { plan, renderPage, simulate, type Plan, type Results } from '@webhook-backpressure/planner';
import type { Exactly } from './exactly.ts';

export async function main(): Promise<unknown> {
  const planned = await plan({
    senders: [{ profile: 'github' }],
    service: { meanMs: 50 },
    concurrency: 2,
    burst: { events: 20, seconds: 1 },
  });
  const isPlan: Exactly<typeof planned, Plan> = true;
  const results = await simulate({
    service: { meanMs: 50 },
    arrivals: [{ fromS: 0, toS: 1, perSecond: 10 }],
    senders: [{ profile: 'github' }],
  });
  const areResults: Exactly<typeof results, Results> = true;

  const command = [
    '--senders',
    'github',
    '--service',
    '50ms',
    '--concurrency',
    '2',
    '--burst',
    '20/1s',
    '--json',
  ];
  const tool = ['node_modules/.bin/webhook-backpressure-planner', ...command] as const;
  const answer = JSON.parse(execFileSync(process.execPath, tool, { encoding: 'utf8' })) as Plan;
  const hasPage = renderPage(planned).startsWith('<!doctype html>');
  const isSame = JSON.stringify(answer) === JSON.stringify(planned);
  return {
    middleware: { key: 'shop-1', typed: isPlan, depth: results.lost },
    inbox: { status: isSame && hasPage ? 200 : 500, completed: 'evt_1', typed: areResults },
  };
}
