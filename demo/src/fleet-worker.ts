import { createWorker } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { openChannel } from './channel.ts';
import { fleetHandler } from './fleet-handler.ts';
import type { FleetMemberOrders, FleetMemberReports } from './messages.ts';
import { FLEET, POOL } from './setup.ts';

const channel = openChannel<FleetMemberOrders, FleetMemberReports>();

channel.on('start', ({ connectionString, ledgerPath }) => {
  const worker = createWorker({
    store: postgresStore({ connectionString }),
    capacity: FLEET.capacity,
    concurrency: POOL.max,
    process: fleetHandler(ledgerPath),
  });
  // The database is stopped on purpose. Without a listener, that would be a warning of the process.
  worker.subscribe(() => undefined);
  channel.send('ready', {});
});
