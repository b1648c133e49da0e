import type { Awaitable, DeliveryRef } from '../delivery/stored-delivery.ts';
import type { StoreStats } from '../store/inbox-store.ts';
import type { StoreAdmin } from '../store/store-admin.ts';

/** A process that has a store open. */
export interface ToolOwner {
  /** Since when, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Which process, as text: "in process 12 on host-1". */
  readonly where: string;
  /** Whether it is known to have ended without closing the store. */
  readonly hasEnded: boolean;
  /** Which process, for `--json`. */
  readonly data: Readonly<Record<string, string | number>>;
}

/** What the command-line tool needs of a store that an inbox may have open: calls of `InboxStore`, and some more. */
export interface ToolStore extends Omit<StoreAdmin, 'noteRoom' | 'dropCompleted' | 'forget'> {
  /** As `stats` of `InboxStore`. */
  stats(): Awaitable<StoreStats>;
  /** As `pause` of `InboxStore`. */
  pause(key: string | null): Awaitable<boolean>;
  /** As `resume` of `InboxStore`. */
  resume(key: string | null): Awaitable<boolean>;
  /** What `status` names first. */
  readonly place: {
    /** Such as "file". */
    readonly name: string;
    /** Such as its path. */
    readonly value: string;
  };
  /** The keys that have a delivery with this id, in any state. May be slow. */
  keysOf(id: string): Awaitable<readonly string[]>;
  /** Whether the id is remembered as completed. */
  isRemembered(ref: DeliveryRef): Awaitable<boolean>;
  /** What `noteRoom` has stored last. */
  room(): Awaitable<{ readonly depth: number; readonly bytes: number } | undefined>;
  /** The processes that have the store open, as far as the store can see them. */
  owners(): Awaitable<readonly ToolOwner[]>;
  /** Ends the connection. The last call. */
  close(): Awaitable<void>;
}

/** What a command does with a store. */
export type ToolAccess = 'read' | 'change';

/** A command that needs no store. */
export interface ToolCommand {
  /** What it does, for the help. */
  readonly does: string;
  /**
   * Returns what is printed.
   *
   * @param args - the arguments behind the name of the command.
   * @throws `UsageError` if they are wrong.
   */
  run(args: readonly string[]): string;
}

/** The stores that a command-line tool works on. */
export interface ToolTarget {
  /** The name of the program, for its help. */
  readonly program: string;
  /** Where deliveries are, in the sentence "There is no delivery … in the file". */
  readonly noun: string;
  /** How the usage names the last argument, such as "FILE" or "[CONNECTION]". */
  readonly argument: string;
  /** Lines of the help about arguments and options that say which store: names, and what they do. */
  readonly help: readonly (readonly [name: string, does: string])[];
  /** The names of these options. Each takes a value. */
  readonly options: readonly string[];
  /**
   * Whether an argument looks like a store instead of an id, so that a missing id can be reported.
   *
   * @param options - the values of `options` that are set.
   */
  isStore(argument: string, options: Readonly<Record<string, string | undefined>>): boolean;
  /** Further commands, by name, which need no store. */
  readonly commands?: Readonly<Record<string, ToolCommand>>;
  /**
   * Opens the store that a command line names. Must neither create nor migrate it, because a receiver of another
   * release may be using it.
   *
   * @param argument - the last argument; undefined if there is none.
   * @param options - the values of `options` that are set.
   * @throws `UsageError` if the command line does not say which store.
   */
  open(
    argument: string | undefined,
    options: Readonly<Record<string, string | undefined>>,
    access: ToolAccess,
  ): Awaitable<ToolStore>;
}

/** The options of a command line, as `parseArgs` of `node:util` takes them. */
export type ToolOptions = Record<string, { type: 'string' | 'boolean'; short?: string }>;

/** A command line, as `parseArgs` of `node:util` returns it. */
export interface ToolArguments {
  /** The options that are set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The other arguments. */
  readonly positionals: readonly string[];
}

/** Calls `parseArgs` of `node:util`. Throws an error with a sentence if an argument is wrong. */
export type ToolParser = (config: {
  args: string[];
  allowPositionals: true;
  options: ToolOptions;
}) => ToolArguments;

/** A wrong command line. Its message is a sentence. */
export class UsageError extends Error {}
