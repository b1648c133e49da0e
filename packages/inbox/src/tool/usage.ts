import { unknownName, unknownOption } from '@webhook-backpressure/base';
import { type DeliveryFilter, needsScan } from '../admin/delivery-filter.ts';
import type { PendingState } from '../store/store-admin.ts';
import {
  COMPLETED_OPTIONS,
  DEAD_OPTIONS,
  FILTER_HELP,
  filterOf,
  type FilterOption,
  PENDING_OPTIONS,
} from './filter-options.ts';
import { integerOf, rateOf, stateOf } from './option-values.ts';
import {
  UsageError,
  type ToolAccess,
  type ToolArguments,
  type ToolOptions,
  type ToolTarget,
} from './target.ts';

export type CommandName =
  | 'status'
  | 'pending'
  | 'dead'
  | 'completed'
  | 'show'
  | 'find'
  | 'redrive'
  | 'replay'
  | 'purge'
  | 'pause'
  | 'resume'
  | 'forget';

/** What a command takes and does. */
interface Command {
  readonly access: ToolAccess;
  /** Its argument before that of the store, as the help names it. */
  readonly id?: 'ID' | 'ID|all';
  readonly options: readonly OwnOption[];
  readonly needsKey?: boolean;
  /** For the help. */
  readonly does: string;
}

const LIST_OPTIONS: readonly OwnOption[] = ['key', 'limit', 'after'];
const SHOWS: Pick<Command, 'access' | 'id' | 'options'> = { access: 'read', id: 'ID', options: ['key'] };
const MOVES: Pick<Command, 'access' | 'id' | 'options'> = {
  access: 'change',
  id: 'ID|all',
  options: ['key', 'all', 'no-wait', 'dry-run', 'per-second'],
};

export const COMMANDS: Readonly<Record<CommandName, Command>> = {
  status: { access: 'read', options: [], does: 'totals, and the processes that have the inbox open' },
  pending: {
    access: 'read',
    options: [...LIST_OPTIONS, 'state', ...PENDING_OPTIONS],
    does: 'stored, unfinished deliveries in the order of arrival',
  },
  dead: {
    access: 'read',
    options: [...LIST_OPTIONS, ...DEAD_OPTIONS],
    does: 'dead letters, oldest first; those of --sender, --error and so on in the order of arrival',
  },
  completed: {
    access: 'read',
    options: [...LIST_OPTIONS, ...COMPLETED_OPTIONS],
    does: 'completed deliveries that are kept (keepCompletedMs), in the order of completion',
  },
  show: { ...SHOWS, does: 'one delivery with its headers and body' },
  find: {
    ...SHOWS,
    does: 'the state of the deliveries with this id; with --key also whether the id is remembered',
  },
  redrive: {
    ...MOVES,
    options: [...MOVES.options, ...DEAD_OPTIONS],
    does: 'moves dead letters back into the queue, with all attempts ahead. A running worker\nprocesses them within seconds. "all" stops at the low-water mark and waits for room',
  },
  replay: {
    ...MOVES,
    options: [...MOVES.options, ...COMPLETED_OPTIONS],
    does: 'does the same with completed deliveries',
  },
  purge: {
    ...MOVES,
    options: [...MOVES.options.filter((name) => name !== 'no-wait'), ...DEAD_OPTIONS],
    does: 'deletes dead letters. If the sender retries one, it is accepted again',
  },
  pause: {
    access: 'change',
    options: ['key'],
    does: 'makes the workers of all processes start no more deliveries; new deliveries are still\nstored. With --key, pauses one key',
  },
  resume: {
    access: 'change',
    options: ['key'],
    does: 'ends a pause. Without --key, paused keys stay paused',
  },
  forget: {
    access: 'change',
    id: 'ID',
    options: ['key'],
    needsKey: true,
    does: 'forgets a completed id, so that it is accepted again; needs --key',
  },
};

/** What a command needs beside the store and its arguments. */
export interface Context {
  /** Where deliveries are: "the file". */
  readonly noun: string;
  /** Reports progress. */
  readonly report: (text: string) => void;
}

type OwnOption =
  'key' | 'all' | 'state' | 'limit' | 'after' | 'no-wait' | 'dry-run' | 'per-second' | FilterOption;
const DEFAULT_LIMIT = 100;

/** A parsed command line. `id` is null for `all`, `--all`, with a filter, and for a command without an id. */
export interface Request {
  readonly command: CommandName;
  /** The last argument, and the options that say which store. */
  readonly argument: string | undefined;
  readonly targetOptions: Readonly<Record<string, string | undefined>>;
  readonly id: string | null;
  readonly key: string | undefined;
  /** With the key. */
  readonly filter: DeliveryFilter;
  readonly state: PendingState | undefined;
  readonly limit: number;
  /** Undefined if it was not given. */
  readonly after: number | undefined;
  readonly isDryRun: boolean;
  readonly perSecond: number | undefined;
  /** Whether `redrive` and `replay` wait for room. */
  readonly waitsForRoom: boolean;
  readonly isJson: boolean;
}

/** The options of all stores. */
export const TOOL_OPTIONS: ToolOptions = {
  key: { type: 'string' },
  all: { type: 'boolean' },
  state: { type: 'string' },
  limit: { type: 'string' },
  after: { type: 'string' },
  'no-wait': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'per-second': { type: 'string' },
  ...Object.fromEntries(DEAD_OPTIONS.map((name) => [name, { type: 'string' as const }])),
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

type Values = Readonly<Record<string, string | undefined>>;

/** @throws UsageError for an option that no command has. */
export function checkOptions(args: readonly string[], { options }: ToolTarget): void {
  const unknown = unknownOption(args, [
    ...Object.keys(TOOL_OPTIONS).map((name) => `--${name}`),
    ...options.map((name) => `--${name}`),
    '-h',
  ]);
  if (unknown !== undefined) throw new UsageError(unknown);
}

/** @returns undefined for `--help`, and without arguments. */
export function requestOf(
  count: number,
  { values, positionals }: ToolArguments,
  target: ToolTarget,
): Request | undefined {
  const [command, ...rest] = positionals;
  if (values['help'] === true || count === 0) return undefined;
  if (command === undefined) throw new UsageError('A command is missing.');
  if (!isCommand(command)) throw new UsageError(unknownCommand(command, target));
  const { id: takes, options: taken, needsKey } = COMMANDS[command];
  const targetOptions = Object.fromEntries(target.options.map((name) => [name, (values as Values)[name]]));
  const isStore = (arg = '') => target.isStore(arg, targetOptions);
  const filter = filterOf(values as Values);
  const isFiltered = needsScan(filter);
  // "all" says the same again.
  if (isFiltered && takes === 'ID|all' && rest[0] === 'all') rest.shift();
  const isAll = values['all'] === true || (isFiltered && takes === 'ID|all');
  const id = takes === undefined || isAll ? undefined : rest.shift();
  const argument = rest.shift();
  // With one argument, or with both in the wrong order, the first one is often the store.
  const isId = id !== undefined && (!isStore(id) || isStore(argument));
  if (takes !== undefined && !isAll && !isId) throw withoutId(command, target);
  const [extra] = rest;
  if (extra !== undefined)
    throw new UsageError(
      `Unexpected argument ${JSON.stringify(extra)}. Usage: ${lineOf(command, takes, target)}.`,
    );
  for (const name of Object.keys(TOOL_OPTIONS)) {
    const isOfAll = name === 'json' || name === 'help';
    if (values[name] !== undefined && !isOfAll && !taken.includes(name as OwnOption))
      throw new UsageError(`${command} does not take --${name}.`);
  }
  const { key, state, limit, after } = values as Values;
  if (needsKey === true && key === undefined) throw new UsageError(`${command} needs --key.`);
  return {
    command,
    argument,
    key,
    filter,
    state: stateOf(state),
    targetOptions,
    id: id === undefined || (id === 'all' && takes === 'ID|all') ? null : id,
    limit: integerOf('limit', limit, 1, DEFAULT_LIMIT),
    after: after === undefined ? undefined : integerOf('after', after, 0, 0),
    isDryRun: values['dry-run'] === true,
    perSecond: rateOf((values as Values)['per-second']),
    waitsForRoom: values['no-wait'] !== true,
    isJson: values['json'] === true,
  };
}

function withoutId(command: CommandName, target: ToolTarget): UsageError {
  const orAll = COMMANDS[command].id === 'ID|all' ? ', or "all",' : '';
  return new UsageError(
    `${command} needs the id of a delivery${orAll} as its first argument. Example: ${lineOf(command, 'evt_1', target)}.`,
  );
}

function lineOf(command: CommandName, id: string | undefined, { program, argument }: ToolTarget): string {
  return [program, command, ...(id === undefined ? [] : [id]), argument].join(' ');
}

function unknownCommand(name: string, { commands = {} }: ToolTarget): string {
  return unknownName('command', name, 'options', [...Object.keys(COMMANDS), ...Object.keys(commands)]);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

type Line = readonly [name: string, does: string];

const OPTIONS: readonly Line[] = [
  ['--key KEY', 'only this key; ids are unique within a key'],
  ['--all', 'for redrive, replay, purge: the same as "all" in place of the id'],
  ['--state STATE', 'for pending: ready, delayed or active'],
  ['--limit N', 'for pending, dead, completed: at most N lines, default 100'],
  ['--after N', 'for pending, dead, completed: continues a list; of dead letters in the order of arrival'],
  ...FILTER_HELP,
  ['--dry-run', 'for redrive, replay, purge: prints what would be moved, and moves nothing'],
  ['--per-second N', 'for redrive, replay, purge: moves no more than this, 0.01 to 100,000'],
  ['--no-wait', 'for redrive, replay: exits when there is no room for more'],
  ['--json', 'prints JSON'],
  ['--help', 'prints this text'],
];

export function helpOf({ program, noun, argument, help, commands = {} }: ToolTarget): string {
  const own = Object.entries(COMMANDS).map(([name, { id, does }]): Line => [
    id === undefined ? name : `${name} ${id}`,
    does,
  ]);
  const more = Object.entries(commands).map(([name, { does }]): Line => [name, does]);
  return `Shows, redrives, replays and deletes deliveries in ${noun} of an inbox. Receivers and workers can keep running.

Usage: ${program} COMMAND [ID] ${argument} [options]

Commands
${listOf([...own, ...more])}

Options
${listOf([...help, ...OPTIONS])}

Exit code: 0 done, 1 failed or partly done, 2 wrong usage.`;
}

function listOf(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  return lines
    .map(([name, does]) => `  ${name.padEnd(width)}${does.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`)
    .join('\n');
}
