/** A change of a source in `packages/core/src` that takes a rule out. */
export interface Change {
  readonly file: string;
  /** A text that occurs in the file. */
  readonly from: string;
  /** `value`: `to` replaces the expression `from`. `first`: the statement `to` follows `from`, the head of a function. */
  readonly as: 'value' | 'first';
  readonly to: string;
}

/** A rule of the decision. */
export interface Rule {
  readonly name: string;
  /** The sources that would go with it, or where it is a part of a file, about how many lines. */
  readonly size: readonly string[] | number;
  readonly changes: readonly Change[];
  /** The scenarios that it can matter in, by their names. Default all. */
  readonly matters?: RegExp;
}

/** Elsewhere the process takes no time, so no timer is late. */
export const LATE = /^process/;
export const FLEET = /^fleet/;
export const PER_KEY = /per key/;
export const ADAPTIVE = /^adaptive/;

export function value(file: string, from: string, to: string): Change {
  return { file, from, as: 'value', to };
}

export function first(file: string, from: string, to: string): Change {
  return { file, from, as: 'first', to };
}
