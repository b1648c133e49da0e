import { errorMessageOf } from '@webhook-backpressure/base';
import { completed, dead, pending, status } from './listing.ts';
import { forget, pause, purge, redrive, replay, resume } from './moving.ts';
import { find, show } from './showing.ts';
import {
  UsageError,
  type ToolArguments,
  type ToolParser,
  type ToolStore,
  type ToolTarget,
} from './target.ts';
import type { Answer } from './text.ts';
import {
  checkOptions,
  COMMANDS,
  helpOf,
  requestOf,
  TOOL_OPTIONS,
  type CommandName,
  type Context,
  type Request,
} from './usage.ts';

/** Each call writes a line. */
export interface ToolOutput {
  /** Writes to the standard output. */
  readonly out: (text: string) => void;
  /** Writes to the standard error. */
  readonly err: (text: string) => void;
}

type Run = (store: ToolStore, request: Request, context: Context) => Promise<Answer>;

const RUNS: Record<CommandName, Run> = {
  status,
  pending,
  dead,
  completed,
  show,
  find,
  redrive,
  replay,
  purge,
  pause,
  resume,
  forget,
};
const EXIT = { DONE: 0, NOT_DONE: 1, NOT_UNDERSTOOD: 2 };

/**
 * Runs a command of the tool that shows, redrives, replays and deletes deliveries.
 *
 * @param args - the arguments behind the name of the program.
 * @param target - which stores the tool works on.
 * @param parse - calls `parseArgs` of `node:util`.
 * @param output - where the result and errors are written.
 * @returns the exit code: 0 done, 1 failed or partly done, 2 wrong usage.
 */
export async function runTool(
  args: readonly string[],
  target: ToolTarget,
  parse: ToolParser,
  { out, err }: ToolOutput,
): Promise<number> {
  try {
    const [name = '', ...rest] = args;
    const own = target.commands?.[name];
    if (own !== undefined && !rest.includes('--help')) {
      out(own.run(rest));
      return EXIT.DONE;
    }
    const request = requestOf(args.length, parsed(args, target, parse), target);
    if (request === undefined) {
      out(helpOf(target));
      return EXIT.DONE;
    }
    const answer = await runCommand(request, target, err);
    if (answer.problem !== undefined) {
      err(answer.problem);
      return EXIT.NOT_DONE;
    }
    out(request.isJson ? JSON.stringify(answer.data, undefined, 2) : answer.text);
    return answer.isPartial === true ? EXIT.NOT_DONE : EXIT.DONE;
  } catch (error) {
    const line = lineOf(error);
    if (error instanceof UsageError) {
      err(`${line} Try --help.`);
      return EXIT.NOT_UNDERSTOOD;
    }
    err(line);
    return EXIT.NOT_DONE;
  }
}

function parsed(args: readonly string[], target: ToolTarget, parse: ToolParser): ToolArguments {
  checkOptions(args, target);
  const own = Object.fromEntries(target.options.map((name) => [name, { type: 'string' as const }]));
  try {
    return parse({ args: [...args], allowPositionals: true, options: { ...own, ...TOOL_OPTIONS } });
  } catch (error) {
    throw new UsageError(lineOf(error).replace(/[^.]$/, '$&.'));
  }
}

async function runCommand(request: Request, target: ToolTarget, report: Context['report']): Promise<Answer> {
  const { command, argument, targetOptions } = request;
  const store = await target.open(argument, targetOptions, COMMANDS[command].access);
  try {
    return await RUNS[command](store, request, { noun: target.noun, report });
  } finally {
    await store.close();
  }
}

/** The message of an error without its stack. */
function lineOf(error: unknown): string {
  const text = errorMessageOf(error);
  return text.split('\n')[0] ?? '';
}
