import { statSync, type Stats } from 'node:fs';
import { BackpressureError, thrownText } from '@webhook-backpressure/core';
import type { Connection } from '../connection/connection.ts';
import { settle, type Settings } from '../options.ts';
import { changeInboxFile, readInboxFile } from '../store/inbox-file.ts';
import type { Answer } from './answer.ts';
import { forget, pause, purge, redrive, replay, resume, type Progress } from './commands.ts';
import { completed, dead, pending, status } from './listing.ts';
import { find, show } from './showing.ts';
import { tablesOf, type Tables } from './tables.ts';
import { HELP, parse, UsageError, type Request } from './usage.ts';

/** Each call writes a line. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

interface Command {
  readonly run: (tables: Tables, request: Request, report: Progress) => Answer | Promise<Answer>;
  readonly open: (settings: Settings) => Connection;
}

const COMMANDS: Record<Request['command'], Command> = {
  status: { run: status, open: readInboxFile },
  pending: { run: pending, open: readInboxFile },
  dead: { run: dead, open: readInboxFile },
  completed: { run: completed, open: readInboxFile },
  show: { run: show, open: readInboxFile },
  find: { run: find, open: readInboxFile },
  redrive: { run: redrive, open: changeInboxFile },
  replay: { run: replay, open: changeInboxFile },
  purge: { run: purge, open: changeInboxFile },
  pause: { run: pause, open: changeInboxFile },
  resume: { run: resume, open: changeInboxFile },
  forget: { run: forget, open: changeInboxFile },
};
const EXIT = { DONE: 0, NOT_DONE: 1, NOT_UNDERSTOOD: 2 };
/** Longer than in a receiver: nothing else waits while the tool does. */
const BUSY_TIMEOUT_MS = 10_000;

/** @returns the exit code. */
export async function runTool(args: readonly string[], { out, err }: Output): Promise<number> {
  try {
    const request = parse(args);
    if (request === undefined) {
      out(HELP);
      return EXIT.DONE;
    }
    const answer = await runCommand(request, err);
    if (answer.problem !== undefined) {
      err(answer.problem);
      return EXIT.NOT_DONE;
    }
    out(request.isJson ? JSON.stringify(answer.data, undefined, 2) : answer.text);
    return answer.isPartial === true ? EXIT.NOT_DONE : EXIT.DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${error.message} Try --help.`);
      return EXIT.NOT_UNDERSTOOD;
    }
    err(lineOf(error));
    return EXIT.NOT_DONE;
  }
}

async function runCommand(request: Request, report: Progress): Promise<Answer> {
  const settings = settle({ path: request.file, busyTimeoutMs: BUSY_TIMEOUT_MS });
  const found = statOf(settings.path);
  if (found === undefined) return { problem: `The file ${settings.path} does not exist.` };
  if (!found.isFile()) return { problem: `${settings.path} is not a file.` };
  const { run, open } = COMMANDS[request.command];
  const connection = open(settings);
  try {
    return await run(tablesOf(connection), request, report);
  } finally {
    connection.close();
  }
}

function statOf(path: string): Stats | undefined {
  try {
    // Not with `throwIfNoEntry: false`: since Node 22 it hides ENOTDIR as well, where a file is in place of a directory.
    return statSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new BackpressureError('ERR_WBP_SQLITE_OPEN', `${path} cannot be opened: ${lineOf(error)}.`, {
      cause: error,
    });
  }
}

/** The message of an error without its stack. */
function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : thrownText(error);
  return text.split('\n')[0] ?? '';
}
