/** What can be bound to a parameter. */
export type Value = string | number | Uint8Array | null;

/** A prepared statement. A row is an array of its columns. */
export interface DriverStatement {
  /** The first row; undefined when there is none. */
  get(values: readonly Value[]): unknown;
  all(values: readonly Value[]): readonly unknown[];
  /** @returns how many rows it changed. */
  run(values: readonly Value[]): number;
}

/** A database that is open. What its calls throw is the library's own; `failure.ts` explains it. */
export interface DriverDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): DriverStatement;
  /** Runs statements that have no parameters and whose rows nobody wants. */
  exec(sql: string): void;
  close(): void;
}

/** A library that brings SQLite. */
export interface Driver {
  /** @param name - a path, or a `file:` URI with parameters of SQLite. */
  open(name: string, busyTimeoutMs: number): DriverDatabase;
}
