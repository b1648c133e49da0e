import { parseArgs } from 'node:util';

export const HELP = `Looks into the file of an inbox, and clears its shelf. The receiver may go on running.

Usage: webhook-backpressure-sqlite COMMAND [ID] FILE [options]

Commands
  status          what is stored, and who has the file open
  dead            the shelf: what will not be tried again by itself, the oldest first
  show ID         one delivery on the shelf, with its headers and its body
  redrive ID|all  back to the receiver, with all attempts before it; a running one takes it up within seconds
  purge ID|all    off the shelf for good; the sender may then send it anew

Options
  --file FILE     the file, instead of as the last argument
  --key KEY       dead, show, redrive, purge: of this key only; ids are unique within a key
  --limit N       dead: at most so many lines, default 100
  --json          for programs
  --help          this text

Exit code: 0 done, 1 not done, 2 not understood.`;

const TAKES_ID = { status: false, dead: false, show: true, redrive: true, purge: true } as const;
const TAKES_KEY = { status: false, dead: true, show: true, redrive: true, purge: true } as const;
const DEFAULT_LIMIT = 100;

/** What was asked for. `id` is null for all, and for a command that takes none; `key` is undefined for any. */
export interface Request {
  readonly command: keyof typeof TAKES_ID;
  readonly file: string;
  readonly id: string | null;
  readonly key: string | undefined;
  readonly limit: number;
  readonly isJson: boolean;
}

/** What was typed is not understood; the message is a sentence. */
export class UsageError extends Error {}

/** @returns undefined when help is asked for. */
export function parse(args: readonly string[]): Request | undefined {
  const { values, positionals } = typed(args);
  const [command, ...rest] = positionals;
  if (values.help === true || (command === undefined && args.length === 0)) return undefined;
  if (command === undefined) throw new UsageError('A command is missing.');
  if (!isCommand(command)) throw new UsageError(`There is no command ${JSON.stringify(command)}.`);
  const id = TAKES_ID[command] ? rest.shift() : undefined;
  if (TAKES_ID[command] && id === undefined) throw new UsageError(`${command} needs the id of a delivery.`);
  const file = values.file ?? rest.shift();
  if (file === undefined || file === '') throw new UsageError('The file is missing.');
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many.`);
  if (values.key !== undefined && !TAKES_KEY[command]) throw new UsageError(`${command} takes no --key.`);
  const isAll = id === undefined || (id === 'all' && command !== 'show');
  const limit = Number(values.limit ?? DEFAULT_LIMIT);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError(`--limit must be an integer, at least 1, but was ${JSON.stringify(values.limit)}.`);
  return { command, file, id: isAll ? null : id, key: values.key, limit, isJson: values.json === true };
}

function isCommand(name: string): name is Request['command'] {
  return Object.hasOwn(TAKES_ID, name);
}

function typed(args: readonly string[]): {
  values: {
    file?: string | undefined;
    key?: string | undefined;
    limit?: string | undefined;
    json?: boolean | undefined;
    help?: boolean | undefined;
  };
  positionals: string[];
} {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        file: { type: 'string' },
        key: { type: 'string' },
        limit: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
