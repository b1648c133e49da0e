import { thrownText } from '@webhook-backpressure/base';
import type { Answer } from './answer.ts';
import { forget, pause, purge, redrive, replay, resume } from './commands.ts';
import type { Context } from './context.ts';
import { helpOf } from './help.ts';
import { completed, dead, pending } from './listing.ts';
import { find, show } from './showing.ts';
import { status } from './status.ts';
import type { ToolAccess, ToolStore, ToolTarget } from './target.ts';
import type { ToolArguments, ToolParser } from './tool-parser.ts';
import { requestOf, TOOL_OPTIONS, type Request } from './usage.ts';
import { UsageError } from './usage-error.ts';

/** Each call writes a line. */
export interface ToolOutput {
  /** Writes to the standard output. */
  readonly out: (text: string) => void;
  /** Writes to the standard error. */
  readonly err: (text: string) => void;
}

interface Command {
  readonly run: (store: ToolStore, request: Request, context: Context) => Promise<Answer>;
  readonly access: ToolAccess;
}

const COMMANDS: Record<Request['command'], Command> = {
  status: { run: status, access: 'read' },
  pending: { run: pending, access: 'read' },
  dead: { run: dead, access: 'read' },
  completed: { run: completed, access: 'read' },
  show: { run: show, access: 'read' },
  find: { run: find, access: 'read' },
  redrive: { run: redrive, access: 'change' },
  replay: { run: replay, access: 'change' },
  purge: { run: purge, access: 'change' },
  pause: { run: pause, access: 'change' },
  resume: { run: resume, access: 'change' },
  forget: { run: forget, access: 'change' },
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

function parsed(args: readonly string[], { options }: ToolTarget, parse: ToolParser): ToolArguments {
  const own = Object.fromEntries(options.map((name) => [name, { type: 'string' as const }]));
  try {
    return parse({ args: [...args], allowPositionals: true, options: { ...own, ...TOOL_OPTIONS } });
  } catch (error) {
    throw new UsageError(lineOf(error));
  }
}

async function runCommand(request: Request, target: ToolTarget, report: Context['report']): Promise<Answer> {
  const { run, access } = COMMANDS[request.command];
  const store = await target.open(request.argument, request.targetOptions, access);
  try {
    return await run(store, request, { noun: target.noun, report });
  } finally {
    await store.close();
  }
}

/** The message of an error without its stack. */
function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : thrownText(error);
  return text.split('\n')[0] ?? '';
}
