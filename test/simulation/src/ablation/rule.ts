/** A change of a source in `packages` that takes a rule out. */
export interface Change {
  readonly file: string;
  /** A text that occurs in the file. */
  readonly from: string;
  /** `value`: `to` replaces the expression `from`. `after`: the statement `to` follows `from`. */
  readonly as: 'value' | 'after';
  readonly to: string;
}

/** A rule of the decision. */
export interface Rule {
  readonly name: string;
  /** The sources that would go with it, or where it is a part of a file, about how many lines. */
  readonly size: readonly string[] | number;
  readonly changes: readonly Change[];
  /** It can matter only in scenarios whose names begin so. Where its sources are not reached is found without this. */
  readonly matters?: string;
}

/** Elsewhere the process takes no time, so no timer is late. */
export const LATE = 'process';

export function value(file: string, from: string, to: string): Change {
  return { file, from, as: 'value', to };
}

export function after(file: string, from: string, to: string): Change {
  return { file, from, as: 'after', to };
}
