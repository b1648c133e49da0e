import { statSync } from 'node:fs';
import { BackpressureError } from '@webhook-backpressure/core';
import { openInboxFile } from '../inbox-file.ts';
import { settle } from '../options.ts';
import { Shelf } from '../shelf.ts';
import { Totals } from '../totals.ts';
import { dead, purge, redrive, show, status, type Answer, type Inside } from './commands.ts';
import { HELP, parse, UsageError, type Request } from './usage.ts';

/** Where the tool writes, line by line. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const COMMANDS: Record<Request['command'], (inside: Inside, request: Request) => Answer> = {
  status,
  dead,
  show,
  redrive,
  purge,
};
const EXIT = { DONE: 0, NOT_DONE: 1, NOT_UNDERSTOOD: 2 };
/** Nobody else stands still while the tool waits. */
const BUSY_TIMEOUT_MS = 10_000;

/** @returns the exit code. */
export function runTool(args: readonly string[], { out, err }: Output): number {
  try {
    const request = parse(args);
    if (request === undefined) {
      out(HELP);
      return EXIT.DONE;
    }
    const answer = ask(request);
    if (answer.problem !== undefined) {
      err(answer.problem);
      return EXIT.NOT_DONE;
    }
    out(request.isJson ? JSON.stringify(answer.data, undefined, 2) : answer.text);
    return EXIT.DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${error.message} Try --help.`);
      return EXIT.NOT_UNDERSTOOD;
    }
    if (!(error instanceof BackpressureError)) throw error;
    err(error.message);
    return EXIT.NOT_DONE;
  }
}

function ask(request: Request): Answer {
  const { command, file } = request;
  const settings = settle({ path: file, busyTimeoutMs: BUSY_TIMEOUT_MS });
  // Opening it would make it.
  if (statSync(settings.path, { throwIfNoEntry: false }) === undefined)
    return { problem: `There is no file ${settings.path}.` };
  const connection = openInboxFile(settings);
  try {
    const totals = new Totals(connection);
    return COMMANDS[command]({ connection, totals, shelf: new Shelf(connection, totals) }, request);
  } finally {
    connection.close();
  }
}
