import { earliestLastS } from './bound.ts';
import { hasFlag, numberOption, progress } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { LOAD_CORE, Pinned, SERVER_CORE } from '../pinned.ts';
import { percentile } from '../statistics.ts';
import { write } from '../write.ts';
import type { Received } from './receiver-child.ts';
import { clientsReport, failuresOf, type Run } from './report.ts';
import type { Burst, Sent } from './sender-child.ts';
import { CLIENTS, DELIVERIES, RECEIVERS, type ClientName, type ReceiverName } from './setup.ts';

/** A refusal within this time is that of a first attempt. */
const FIRST_MS = 1000;

const rounds = numberOption('rounds', 1);
const machine = describeMachine();
const runs: Run[] = [];
for (let round = 0; round < rounds; round += 1)
  for (const receiver of RECEIVERS)
    for (const client of CLIENTS) {
      const run = await burst(client, receiver);
      progress(JSON.stringify(run));
      runs.push(run);
    }

process.stdout.write(clientsReport(machine, runs));
if (hasFlag('write')) {
  await write('clients/report.md', clientsReport(machine, runs));
  await write('clients/results.json', JSON.stringify({ machine, runs }));
}
const failures = runs.flatMap(failuresOf);
if (failures.length > 0) throw new Error(failures.join('\n'));

/** A burst at a receiver that has just been started: nothing is compiled, and no drain rate is known. */
async function burst(client: ClientName, receiver: ReceiverName): Promise<Run> {
  const server = new Pinned('clients/receiver-child.js', [receiver], { core: SERVER_CORE });
  const sender = new Pinned('clients/sender-child.js', [client], { core: LOAD_CORE });
  try {
    const port = await server.ask<number>('start');
    const url = `http://127.0.0.1:${String(port)}/webhooks`;
    const order: Burst = { url, deliveries: DELIVERIES };
    const { delivered, lastS } = await sender.ask<Sent>(order);
    const { handled, refused, retryAfterS, refusedMs } = await server.ask<Received>('report');
    return {
      client,
      receiver,
      delivered,
      handled,
      lastS,
      attempts: (handled + refused) / DELIVERIES,
      earliestS: earliestLastS(refusedMs.filter((ms) => ms < FIRST_MS)),
      retryAfterP50S: percentile(retryAfterS, 0.5),
      retryAfterMostS: Math.max(...retryAfterS),
    };
  } finally {
    await Promise.all([server.stop(), sender.stop()]);
  }
}
