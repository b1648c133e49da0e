import { writeFile } from 'node:fs/promises';
import { renderPage } from '../page/page.ts';
import { ScenarioError } from '../scenario/fields.ts';
import { plan } from '../search/make-plan.ts';
import { renderAnswer, type Terminal } from '../terminal/answer.ts';
import { parseCommand, type Command } from './arguments.ts';
import { help } from './help.ts';
import { Progress } from './progress.ts';
import { simulateFile } from './simulate-command.ts';
import { UsageError } from './usage-error.ts';

/** Where a command reads and writes. */
export interface Surroundings {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly terminal: Terminal;
  readonly version: string;
  /** The time in milliseconds, for reports of progress. */
  readonly now: () => number;
}

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs the command line. @returns the exit code. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { out, err } = surroundings;
  try {
    const command = parseCommand(args);
    out(await outputOf(command, surroundings));
    return DONE;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ScenarioError)) throw error;
    err(error.message);
    return error instanceof UsageError ? WRONG_USAGE : FAILED;
  }
}

async function writePage(file: string, page: string): Promise<void> {
  await writeFile(file, page).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The page cannot be written: ${reason}.`);
  });
}

async function outputOf(command: Command, { err, terminal, version, now }: Surroundings): Promise<string> {
  switch (command.name) {
    case 'help':
      return help();
    case 'version':
      return version;
    case 'simulate':
      return simulateFile(command.file);
    case 'plan': {
      const progress = new Progress(err, now);
      const planned = await plan(command.request, progress);
      progress.end();
      if (command.html !== undefined) await writePage(command.html, renderPage(planned));
      return command.isJson ? JSON.stringify(planned, null, 2) : renderAnswer(planned, terminal);
    }
  }
}
