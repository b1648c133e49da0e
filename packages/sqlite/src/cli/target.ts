import { existsSync, statSync, type Stats } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/base';
import {
  type ToolOwner,
  type ToolStore,
  type ToolTarget,
  UsageError,
} from '@webhook-backpressure/inbox/tool';
import type { Connection } from '../connection/connection.ts';
import { isAlive } from '../file/owner-lock.ts';
import { isRemembered } from '../finished/completed-ids.ts';
import { settle } from '../options.ts';
import { keysOf } from '../queue/pending.ts';
import { adminCalls } from '../store/file-store.ts';
import { changeInboxFile, readInboxFile } from '../store/inbox-file.ts';
import { readRoom } from '../tables/totals.ts';

/** Longer than in a receiver: nothing else waits while the tool does. */
const BUSY_TIMEOUT_MS = 10_000;

/** The files that the tool works on. */
export const target: ToolTarget = {
  program: 'webhook-backpressure-sqlite',
  noun: 'the file',
  argument: 'FILE',
  help: [['--file FILE', 'the file, instead of the last argument']],
  options: ['file'],
  isStore: (argument, { file }) => file === undefined && existsSync(argument),
  open: (argument, { file }, access) => {
    if (file !== undefined && argument !== undefined)
      throw new UsageError(`Unexpected argument ${JSON.stringify(argument)}.`);
    const given = file ?? argument ?? '';
    if (given === '') throw new UsageError('The file is missing: add its path as the last argument.');
    const settings = settle({ path: given, busyTimeoutMs: BUSY_TIMEOUT_MS });
    const found = statOf(settings.path);
    if (found === undefined) throw new Error(`The file ${settings.path} does not exist.`);
    if (!found.isFile()) throw new Error(`${settings.path} is not a file.`);
    return toolStore(access === 'read' ? readInboxFile(settings) : changeInboxFile(settings));
  },
};

function statOf(path: string): Stats | undefined {
  try {
    // Not with `throwIfNoEntry: false`: since Node 22 it hides ENOTDIR as well, where a file is in place of a directory.
    return statSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new BackpressureError('ERR_WBP_SQLITE_OPEN', `${path} cannot be opened: ${message}.`, {
      cause: error,
    });
  }
}

type OwnerRow = readonly [id: number, pid: number, host: string, sinceMs: number];

/** The file of an inbox, as the tool uses it: without an owner, because the tool claims nothing. */
function toolStore(connection: Connection): ToolStore {
  return {
    place: { name: 'file', value: connection.path },
    ...adminCalls(() => connection),
    keysOf: (id) => keysOf(connection, id),
    isRemembered: (ref) => isRemembered(connection, ref),
    room: () => readRoom(connection),
    owners: () => {
      const rows = connection.all('SELECT id, pid, host, since_ms FROM owners') as OwnerRow[];
      return rows.map(([id, pid, host, sinceMs]): ToolOwner => ({
        sinceMs,
        where: `in process ${String(pid)} on ${host}`,
        hasEnded: !isAlive(connection.location, id),
        data: { pid, host },
      }));
    },
    close: () => {
      connection.close();
    },
  };
}
