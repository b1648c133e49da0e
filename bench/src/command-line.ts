import { parseArgs } from 'node:util';

/** Whether the command line has this flag. */
export function hasFlag(name: string): boolean {
  return process.argv.includes(`--${name}`);
}

/** The number after an option, or the default. */
export function numberOption(name: string, otherwise: number): number {
  const { values } = parseArgs({ options: { [name]: { type: 'string' } }, strict: false });
  const value = Number(values[name] ?? otherwise);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a positive number.`);
  return value;
}

/** The text after an option, or undefined without it. */
export function textOption(name: string): string | undefined {
  const { values } = parseArgs({ options: { [name]: { type: 'string' } }, strict: false });
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Progress goes where it does not mix with the results. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
