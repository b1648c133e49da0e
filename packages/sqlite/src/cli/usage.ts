import { parseArgs } from 'node:util';
import type { PendingState } from '@webhook-backpressure/core';

export const HELP = `Shows, redrives, replays and deletes deliveries in the file of an inbox. The receiver can keep running.

Usage: webhook-backpressure-sqlite COMMAND [ID] FILE [options]

Commands
  status          totals, and the processes that have the file open
  pending         stored, unfinished deliveries in the order of arrival
  dead            dead letters, oldest first
  completed       completed deliveries that are kept (keepCompletedMs), in the order of completion
  show ID         one delivery with its headers and body
  find ID         the state of the deliveries with this id; with --key also whether the id is remembered
  redrive ID|all  moves dead letters back into the queue, with all attempts ahead. A running receiver
                  processes them within seconds. "all" stops at the low-water mark and waits for room
  replay ID|all   does the same with completed deliveries
  purge ID|all    deletes dead letters. If the sender retries one, it is accepted again
  pause           makes the workers of all processes start no more deliveries; new deliveries are still
                  stored. With --key, pauses one key
  resume          ends a pause. Without --key, paused keys stay paused
  forget ID       forgets a completed id, so that it is accepted again; needs --key

Options
  --file FILE     the file, instead of the last argument
  --key KEY       only this key; ids are unique within a key
  --state STATE   for pending: ready, delayed or active
  --limit N       for pending, dead, completed: at most N lines, default 100
  --after N       for pending, completed: continues a list
  --no-wait       for redrive, replay: exits when there is no room for more
  --json          prints JSON
  --help          prints this text

Exit code: 0 done, 1 failed or partly done, 2 wrong usage.`;

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

/** A parsed command line. `id` is null for `all` and for a command without an id. */
export interface Request {
  readonly command: keyof typeof COMMANDS;
  readonly file: string;
  readonly id: string | null;
  readonly key: string | undefined;
  readonly state: PendingState | undefined;
  readonly limit: number;
  readonly after: number;
  /** Whether `redrive` and `replay` wait for room. */
  readonly waitsForRoom: boolean;
  readonly isJson: boolean;
}

/** A wrong command line. Its message is a sentence. */
export class UsageError extends Error {}

/** @returns undefined for `--help`, and without arguments. */
export function parse(args: readonly string[]): Request | undefined {
  const { values, positionals } = typed(args);
  const [command, ...rest] = positionals;
  if (values.help === true || (command === undefined && args.length === 0)) return undefined;
  if (command === undefined) throw new UsageError('A command is missing.');
  if (!isCommand(command)) throw new UsageError(`Unknown command ${JSON.stringify(command)}.`);
  const shape: Shape = COMMANDS[command];
  const id = shape.takesId === true ? rest.shift() : undefined;
  if (shape.takesId === true && id === undefined)
    throw new UsageError(`${command} needs the id of a delivery.`);
  const file = values.file ?? rest.shift();
  if (file === undefined || file === '') throw new UsageError('The file is missing.');
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`Unexpected argument ${JSON.stringify(extra)}.`);
  for (const name of OWN_OPTIONS) {
    if (values[name] !== undefined && !shape.options.includes(name))
      throw new UsageError(`${command} does not take --${name}.`);
  }
  if (shape.needsKey === true && values.key === undefined) throw new UsageError(`${command} needs --key.`);
  return {
    ...{ command, file, key: values.key, state: stateOf(values.state) },
    id: id === undefined || (id === 'all' && shape.takesAll === true) ? null : id,
    limit: integerOf('limit', values.limit, 1, DEFAULT_LIMIT),
    after: integerOf('after', values.after, 0, 0),
    waitsForRoom: values['no-wait'] !== true,
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
    `--${name} must be an integer of at least ${String(least)}, but was ${JSON.stringify(given)}.`,
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
