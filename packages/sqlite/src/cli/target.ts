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
import { forgetId, getCompleted, listCompleted, replay } from '../finished/completed.ts';
import { getDeadLetter, listDeadLetters, purge, scanDeadLetters } from '../finished/dead-letters.ts';
import { countFinished, KEPT, putBack, DEAD_LETTERS } from '../finished/finished.ts';
import { settle } from '../options.ts';
import { getPending, keysOf, listPending } from '../queue/pending.ts';
import { changeInboxFile, readInboxFile } from '../store/inbox-file.ts';
import { pause, readRoom, readStats, resume } from '../tables/totals.ts';

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
    stats: () => readStats(connection),
    listDeadLetters: (page) => listDeadLetters(connection, page),
    scanDeadLetters: (page) => scanDeadLetters(connection, page),
    getDeadLetter: (id, scope) => getDeadLetter(connection, id, scope),
    countDeadLetters: (id, scope) => countFinished(connection, DEAD_LETTERS, id, scope),
    redrive: (id, which) => putBack(connection, DEAD_LETTERS, id, which),
    purge: (id, which) => purge(connection, id, which),
    listPending: (query) => listPending(connection, query),
    getPending: (ref, nowMs) => getPending(connection, ref, nowMs),
    listCompleted: (query) => listCompleted(connection, query),
    getCompleted: (id, scope) => getCompleted(connection, id, scope),
    countCompleted: (id, scope) => countFinished(connection, KEPT, id, scope),
    replay: (id, which) => replay(connection, id, which),
    forgetId: (ref) => forgetId(connection, ref),
    pause: (key) => pause(connection, key),
    resume: (key) => resume(connection, key),
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
