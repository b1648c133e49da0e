import { statSync, type Stats } from 'node:fs';
import { BackpressureError, thrownText } from '@webhook-backpressure/core';
import type { Connection } from '../file/connection.ts';
import { changeInboxFile, readInboxFile } from '../file/inbox-file.ts';
import { settle, type Settings } from '../options.ts';
import { forget, pause, purge, redrive, replay, resume, type Tell } from './commands.ts';
import { insideOf, type Answer, type Inside } from './inside.ts';
import { completed, dead, pending, status } from './listing.ts';
import { find, show } from './showing.ts';
import { HELP, parse, UsageError, type Request } from './usage.ts';

/** Where the tool writes, line by line. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

interface Command {
  readonly run: (inside: Inside, request: Request, tell: Tell) => Answer | Promise<Answer>;
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
/** Nobody else stands still while the tool waits. */
const BUSY_TIMEOUT_MS = 10_000;

/** @returns the exit code. */
export async function runTool(args: readonly string[], { out, err }: Output): Promise<number> {
  try {
    const request = parse(args);
    if (request === undefined) {
      out(HELP);
      return EXIT.DONE;
    }
    const answer = await ask(request, err);
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

async function ask(request: Request, tell: Tell): Promise<Answer> {
  const settings = settle({ path: request.file, busyTimeoutMs: BUSY_TIMEOUT_MS });
  const found = lookAt(settings.path);
  if (found === undefined) return { problem: `There is no file ${settings.path}.` };
  if (!found.isFile()) return { problem: `${settings.path} is not a file.` };
  const { run, open } = COMMANDS[request.command];
  const connection = open(settings);
  try {
    return await run(insideOf(connection), request, tell);
  } finally {
    connection.close();
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    // Without `throwIfNoEntry`: from Node 22 on, it takes a file where a folder should be for nothing at all.
    return statSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new BackpressureError('ERR_WBP_SQLITE_OPEN', `${path} cannot be opened: ${lineOf(error)}.`, {
      cause: error,
    });
  }
}

/** Whatever went wrong, who typed the command wants to know that, and not where. */
function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : thrownText(error);
  return text.split('\n')[0] ?? '';
}
