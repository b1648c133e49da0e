import type { PendingState } from '../store/store-admin.ts';
import type { ToolArguments, ToolOptions } from './tool-parser.ts';
import type { ToolTarget } from './target.ts';
import { UsageError } from './usage-error.ts';

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
  /** The last argument, and the options that say which store. */
  readonly argument: string | undefined;
  readonly targetOptions: Readonly<Record<string, string | undefined>>;
  readonly id: string | null;
  readonly key: string | undefined;
  readonly state: PendingState | undefined;
  readonly limit: number;
  readonly after: number;
  /** Whether `redrive` and `replay` wait for room. */
  readonly waitsForRoom: boolean;
  readonly isJson: boolean;
}

/** The options of all stores. */
export const TOOL_OPTIONS: ToolOptions = {
  key: { type: 'string' },
  state: { type: 'string' },
  limit: { type: 'string' },
  after: { type: 'string' },
  'no-wait': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};

type Values = Readonly<Record<string, string | undefined>>;

/** @returns undefined for `--help`, and without arguments. */
export function requestOf(
  count: number,
  { values, positionals }: ToolArguments,
  { options }: ToolTarget,
): Request | undefined {
  const [command, ...rest] = positionals;
  if (values['help'] === true || count === 0) return undefined;
  if (command === undefined) throw new UsageError('A command is missing.');
  if (!isCommand(command)) throw new UsageError(`Unknown command ${JSON.stringify(command)}.`);
  const shape: Shape = COMMANDS[command];
  const id = shape.takesId === true ? rest.shift() : undefined;
  if (shape.takesId === true && id === undefined)
    throw new UsageError(`${command} needs the id of a delivery.`);
  const argument = rest.shift();
  const [extra] = rest;
  if (extra !== undefined) throw new UsageError(`Unexpected argument ${JSON.stringify(extra)}.`);
  for (const name of OWN_OPTIONS) {
    if (values[name] !== undefined && !shape.options.includes(name))
      throw new UsageError(`${command} does not take --${name}.`);
  }
  const { key, state, limit, after } = values as Values;
  if (shape.needsKey === true && key === undefined) throw new UsageError(`${command} needs --key.`);
  return {
    ...{ command, argument, key, state: stateOf(state) },
    targetOptions: Object.fromEntries(options.map((name) => [name, (values as Values)[name]])),
    id: id === undefined || (id === 'all' && shape.takesAll === true) ? null : id,
    limit: integerOf('limit', limit, 1, DEFAULT_LIMIT),
    after: integerOf('after', after, 0, 0),
    waitsForRoom: values['no-wait'] !== true,
    isJson: values['json'] === true,
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
