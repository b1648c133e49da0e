/** The types that can be bound to a parameter. */
export type Value = string | number | Uint8Array | null;

/** A prepared statement. A row is an array of its columns. */
export interface DriverStatement {
  /** @returns the first row, if any. */
  get(values: readonly Value[]): unknown;
  all(values: readonly Value[]): readonly unknown[];
  /** @returns the number of changed rows. */
  run(values: readonly Value[]): number;
}

/** An open database. It throws the library's own errors, which `connection/sqlite-errors.ts` converts. */
export interface DriverDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): DriverStatement;
  /** Runs statements without parameters, and discards their rows. */
  exec(sql: string): void;
  close(): void;
}

/** A library that contains SQLite. */
export interface Driver {
  /** @param name - a path, or a `file:` URI with parameters of SQLite. */
  open(name: string, busyTimeoutMs: number): DriverDatabase;
}
