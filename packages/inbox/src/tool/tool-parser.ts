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
