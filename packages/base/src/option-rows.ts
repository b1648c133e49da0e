import { checkNumber } from './checks.ts';
import { BackpressureError, type BackpressureErrorCode as Code } from './errors.ts';
import { checkNames, checkObject } from './option-names.ts';

/** One option. Only `undefined` means absent: `null` is checked as any other value. */
export interface Row<T> {
  /** Without it, the option is required: `undefined` is checked too. */
  readonly default?: T;
  /** Throws if the value is invalid. */
  readonly check?: (given: unknown, name: string) => void;
  /**
   * Returns what is kept instead of the given value, or throws.
   *
   * @param present - the value before an update, which may be merged.
   */
  read?(given: unknown, name: string, present: T): T;
}

/** A row for each name of the public `Options`, and no other. `Settings` are the values to keep, under the same names. */
export type Rows<Settings, Options = Settings> = {
  readonly [K in keyof Options | keyof Settings]-?: K extends keyof Options & keyof Settings
    ? Row<Settings[K]>
    : never;
};

/** Options with a value for each. */
export type Complete<Options> = { readonly [K in keyof Options]-?: Exclude<Options[K], undefined> };

/** The settings whose plain JSON data is `Current`, see {@link current}. */
export type SettingsOf<Current> = {
  readonly [K in keyof Current]: Current[K] extends readonly string[]
    ? ReadonlySet<string>
    : Exclude<Current[K], null> | (null extends Current[K] ? undefined : never);
};

/**
 * @param beside - names of other known options, for the message about an unknown one.
 * @throws BackpressureError with the code of the first invalid option.
 */
export function resolve<S>(rows: Rows<S>, given: object, beside: readonly string[] = []): S {
  checkNames(given, 'options', [...Object.keys(rows), ...beside]);
  return merge(rows, undefined, given);
}

/**
 * The settings after an update; an error changes nothing.
 *
 * @param fixed - the rows of the options that cannot be updated.
 * @throws BackpressureError with the code of the first invalid option.
 */
export function update<S>(rows: Rows<S>, fixed: object, present: S, changes: object): S {
  checkObject(changes, 'update()');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || !Object.hasOwn(fixed, name)) continue;
    throw new BackpressureError(
      'ERR_WBP_NOT_TUNABLE',
      `${name} cannot be updated. It is fixed when the intake or inbox is created.`,
    );
  }
  checkNames(changes, 'update()', Object.keys(rows));
  return merge(rows, present, changes);
}

/** The settings as plain JSON data. It is frozen, so that every snapshot until the next update can share it. */
export function current<C>(rows: Rows<SettingsOf<C>>, settings: SettingsOf<C>): C {
  const names = Object.keys(rows) as (keyof C)[];
  return Object.freeze(Object.fromEntries(names.map((name) => [name, plain(settings[name])]))) as C;
}

/**
 * An option that is an object of options. An update keeps fields that are absent.
 *
 * @param check - checks fields together.
 */
export function group<S>(code: Code, rows: Rows<S>, check?: (settings: S) => void): Row<S> {
  return {
    default: merge(rows, undefined, {}),
    read(given, name, present) {
      checkNames(given, name, Object.keys(rows), code);
      const settings = merge(rows, present, given as object, `${name}.`);
      check?.(settings);
      return settings;
    },
  };
}

/** The `check` of a row: `check` with the code, and the arguments that follow the value. */
export function by<A extends readonly unknown[]>(
  check: (code: Code, option: string, value: unknown, ...more: A) => void,
  code: Code,
  ...more: A
): (given: unknown, name: string) => void {
  return (given, name) => {
    check(code, name, given, ...more);
  };
}

/** See {@link by}. */
export function milliseconds(code: Code, min: number, max: number): (given: unknown, name: string) => void {
  return by(checkNumber, code, min, max, 'milliseconds');
}

function merge<S>(rows: Rows<S>, present: S | undefined, given: object, prefix = ''): S {
  const entries = Object.entries<Row<unknown>>(rows as object as Record<string, Row<unknown>>);
  const before = present as Record<string, unknown> | undefined;
  const settings = entries.map(([name, row]) => {
    const kept = before === undefined ? row.default : before[name];
    // Read once: a getter may return something else the next time.
    const value = (given as Record<string, unknown>)[name];
    if (value === undefined && 'default' in row) return [name, kept];
    row.check?.(value, prefix + name);
    return [name, row.read === undefined ? value : row.read(value, prefix + name, kept)];
  });
  return Object.fromEntries(settings) as S;
}

function plain(value: unknown): unknown {
  if (value instanceof Set) return Object.freeze([...(value as Set<unknown>)]);
  return typeof value === 'object' ? Object.freeze({ ...value }) : (value ?? null);
}
