import { parseArgs } from 'node:util';
import type { PendingState } from '@webhook-backpressure/core';

export const HELP = `Looks into the file of an inbox, and puts back, replays or removes what is in it. The receiver may go on running.

Usage: webhook-backpressure-sqlite COMMAND [ID] FILE [options]

Commands
  status          what is stored, and who has the file open
  pending         what is stored and unfinished, in the order of arrival
  dead            the shelf: what will not be tried again by itself, the oldest first
  completed       what was completed and is kept (keepCompletedMs), in the order of completion
  show ID         one delivery, wherever it is, with its headers and its body
  find ID         where the deliveries of an id are; with --key also whether it is only remembered
  redrive ID|all  from the shelf back to the receiver, with all attempts before it; a running one takes it up within
                  seconds. It puts back as much as leaves room for what arrives, and waits for more room
  replay ID|all   the same for what was completed and is kept
  purge ID|all    off the shelf for good; the sender may then send it anew
  pause           lets the workers of every process begin nothing more; what arrives is stored as before. With
                  --key the deliveries of this key only
  resume          ends that; keys that were paused by --key stay so
  forget ID       forgets that an id was completed, so that it is accepted again; needs --key

Options
  --file FILE     the file, instead of as the last argument
  --key KEY       of this key only; ids are unique within a key
  --state STATE   pending: ready, delayed or active
  --limit N       pending, dead, completed: at most so many lines, default 100
  --after N       pending, completed: goes on where a list has ended
  --no-wait       redrive, replay: stops when there is no room for more now
  --json          for programs
  --help          this text

Exit code: 0 done, 1 not done or not all, 2 not understood.`;

const COMMANDS = {
  status: { options: [] },
  pending: { options: ['key', 'state', 'limit', 'after'] },
  dead: { options: ['key', 'limit'] },
  completed: { options: ['key', 'limit', 'after'] },
  show: { takesId: true, options: ['key'] },
  find: { takesId: true, options: ['key'] },
  redrive: { takesId: true, takesAll: true, options: ['key', 'no-wait'] },
  replay: { takesId: true, takesAll: true, options: ['key', 'no-wait'] },
  purge: { takesId: true, takesAll: true, options: ['key'] },
  pause: { options: ['key'] },
  resume: { options: ['key'] },
  forget: { takesId: true, needsKey: true, options: ['key'] },
} as const;

/** What a command is given. */
interface Shape {
  readonly takesId?: boolean;
  readonly takesAll?: boolean;
  readonly needsKey?: boolean;
  readonly options: readonly OwnOption[];
}

type OwnOption = 'key' | 'state' | 'limit' | 'after' | 'no-wait';
const OWN_OPTIONS: readonly OwnOption[] = ['key', 'state', 'limit', 'after', 'no-wait'];
const STATES: readonly string[] = ['ready', 'delayed', 'active'] satisfies readonly PendingState[];
const DEFAULT_LIMIT = 100;

/** What was asked for. `id` is null for all, and for a command that takes none; `key` is undefined for any. */
export interface Request {
  readonly command: keyof typeof COMMANDS;
  readonly file: string;
  readonly id: string | null;
  readonly key: string | undefined;
  readonly state: PendingState | undefined;
  readonly limit: number;
  readonly after: number;
  /** Whether it waits for room. */
  readonly isPatient: boolean;
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
  const shape: Shape = COMMANDS[command];
  const id = shape.takesId === true ? rest.shift() : undefined;
  if (shape.takesId === true && id === undefined)
    throw new UsageError(`${command} needs the id of a delivery.`);
  const file = values.file ?? rest.shift();
  if (file === undefined || file === '') throw new UsageError('The file is missing.');
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one argument too many.`);
  for (const name of OWN_OPTIONS) {
    if (values[name] !== undefined && !shape.options.includes(name))
      throw new UsageError(`${command} takes no --${name}.`);
  }
  if (shape.needsKey === true && values.key === undefined) throw new UsageError(`${command} needs --key.`);
  return {
    ...{ command, file, key: values.key, state: stateOf(values.state) },
    id: id === undefined || (id === 'all' && shape.takesAll === true) ? null : id,
    limit: integerOf('limit', values.limit, 1, DEFAULT_LIMIT),
    after: integerOf('after', values.after, 0, 0),
    isPatient: values['no-wait'] !== true,
    isJson: values.json === true,
  };
}

function stateOf(state: string | undefined): PendingState | undefined {
  if (state === undefined || STATES.includes(state)) return state as PendingState | undefined;
  throw new UsageError(`--state must be ready, delayed or active, but was ${JSON.stringify(state)}.`);
}

function integerOf(name: string, given: string | undefined, least: number, base: number): number {
  const value = Number(given ?? base);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(
    `--${name} must be an integer, at least ${String(least)}, but was ${JSON.stringify(given)}.`,
  );
}

function isCommand(name: string): name is Request['command'] {
  return Object.hasOwn(COMMANDS, name);
}

function typed(args: readonly string[]): {
  values: {
    file?: string | undefined;
    key?: string | undefined;
    state?: string | undefined;
    limit?: string | undefined;
    after?: string | undefined;
    'no-wait'?: boolean | undefined;
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
        state: { type: 'string' },
        limit: { type: 'string' },
        after: { type: 'string' },
        'no-wait': { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
