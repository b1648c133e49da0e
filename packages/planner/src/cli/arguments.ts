import { unknownName } from '@webhook-backpressure/base';
import { parseArgs } from 'node:util';
import type { PlanRequest } from '../search/request.ts';
import { REQUEST_TEXTS, requestOf, UsageError } from './request-texts.ts';

/** A parsed command line. */
export type Command =
  | { readonly name: 'help' | 'version' }
  | { readonly name: 'simulate'; readonly file: string }
  | {
      readonly name: 'plan';
      readonly request: PlanRequest;
      readonly isJson: boolean;
      /** The file of the page; undefined for none. */
      readonly html: string | undefined;
    };

const TEXTS: readonly string[] = [...REQUEST_TEXTS, 'html'];
const FLAGS = ['json', 'help', 'version'];
const SHORT: Readonly<Record<string, string>> = { h: 'help', v: 'version' };
const SIMULATE = 'simulate';

/**
 * Parses the arguments after the name of the program.
 *
 * @throws UsageError at the first mistake.
 */
export function parseCommand(args: readonly string[]): Command {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) return { name: 'help' };
  const { values, positionals } = split(args);
  if (values.has('version')) return { name: 'version' };
  const [first, ...rest] = positionals;
  if (first === SIMULATE) return { name: 'simulate', file: fileOf(rest, values) };
  if (first !== undefined) throw new UsageError(unknownName('command', first, 'options', [SIMULATE]));
  return {
    name: 'plan',
    request: requestOf(values),
    isJson: values.has('json'),
    html: values.get('html'),
  };
}

function split(args: readonly string[]): { values: Map<string, string>; positionals: string[] } {
  const options = Object.fromEntries<{ type: 'string' | 'boolean' }>([
    ...TEXTS.map((name) => [name, { type: 'string' }] as const),
    ...FLAGS.map((name) => [name, { type: 'boolean' }] as const),
  ]);
  // The messages of the strict mode name no known option.
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const name = SHORT[token.name] ?? token.name;
    const isFlag = FLAGS.includes(name);
    if (!isFlag && !TEXTS.includes(name)) {
      const known = [...TEXTS, ...FLAGS].map((one) => `--${one}`);
      throw new UsageError(unknownName('option', token.rawName, 'options', known));
    }
    if (isFlag && token.value !== undefined) throw new UsageError(`--${name} takes no value.`);
    // Without this, `--html --json` would write a file with the name --json.
    const isNext = token.inlineValue === false && token.value.startsWith('--');
    if (!isFlag && (token.value === undefined || isNext)) throw new UsageError(`--${name} needs a value.`);
    if (values.has(name)) throw new UsageError(`--${name} must be given once.`);
    values.set(name, token.value ?? '');
  }
  return { values, positionals };
}

function fileOf(rest: readonly string[], values: ReadonlyMap<string, string>): string {
  const [file] = rest;
  if (file === undefined || rest.length > 1)
    throw new UsageError('simulate needs one file with a scenario, or - for standard input.');
  const [option] = values.keys();
  if (option !== undefined) throw new UsageError(`simulate does not take --${option}.`);
  return file;
}
