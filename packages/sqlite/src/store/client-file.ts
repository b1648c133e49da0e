import { statSync } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/base';
import type { Put, PutResult, Settlement, StoreLimits } from '@webhook-backpressure/inbox';
import { Connection } from '../connection/connection.ts';
import { adoptDatabase } from '../connection/drivers.ts';
import { DiskSpace } from '../file/disk-space.ts';
import { FileIdentity } from '../file/file-identity.ts';
import type { Settings } from '../options.ts';
import { settle } from '../queue/claim-updates.ts';
import { put } from '../queue/incoming.ts';

/** The connection of an application to the file of a store. */
interface ClientFile {
  readonly connection: Connection;
  readonly disk: DiskSpace;
  readonly identity: FileIdentity;
}

/** With the statements that are prepared. */
const clients = new WeakMap<object, ClientFile>();

/** Ends a claim of `owner` within the transaction of a client. Returns whether it was still held. */
export function settleIn(
  client: unknown,
  settings: Settings,
  owner: number,
  settlement: Settlement,
  nowMs: number,
): boolean {
  const { connection, disk } = fileOf(client, settings);
  return settle(connection, disk, owner, [settlement], nowMs)[0] === true;
}

/** Stores a delivery within the transaction of a client. */
export function putIn(
  client: unknown,
  settings: Settings,
  one: Put,
  options: { readonly limits: StoreLimits; readonly nowMs: number },
): PutResult {
  return put(fileOf(client, settings), [one], options)[0] as PutResult;
}

/** @throws BackpressureError `ERR_WBP_TRANSACTION` unless it is a connection to the file with an open transaction. */
function fileOf(client: unknown, settings: Settings): ClientFile {
  const { path, maxFileBytes } = settings;
  const file = clients.get(client as object) ?? adopt(client, settings);
  const { connection } = file;
  const [name] = connection.get("SELECT file FROM pragma_database_list WHERE name = 'main'") as [
    string | null,
  ];
  // Transactions over several files are not atomic in WAL mode.
  if (!areSame(name, path))
    throw refused(`the main file of client is ${JSON.stringify(name)}, and not ${JSON.stringify(path)}`);
  if (!connection.inTransaction) throw refused('client has no open transaction');
  if (maxFileBytes !== undefined) connection.limitFile(maxFileBytes);
  if (!clients.has(client as object)) clients.set(client as object, file);
  return file;
}

function adopt(client: unknown, { path, busyTimeoutMs, maxWalBytes }: Settings): ClientFile {
  const database = adoptDatabase(client);
  if (database === undefined)
    throw refused(
      'client must be a connection of the library that the store uses, since two copies of SQLite in one process do not see the locks of each other. Choose it with the option driver of sqliteStore()',
    );
  const connection = new Connection(path, busyTimeoutMs, 'write', database);
  return {
    connection,
    disk: new DiskSpace(connection, maxWalBytes, false),
    identity: new FileIdentity(connection.location),
  };
}

function areSame(a: string | null, b: string): boolean {
  if (a === null || a === '') return false;
  const [first, second] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}

function refused(why: string): BackpressureError {
  return new BackpressureError('ERR_WBP_TRANSACTION', `The transaction cannot be used: ${why}.`);
}
