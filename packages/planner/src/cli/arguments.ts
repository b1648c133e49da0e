import { unknownName } from '@webhook-backpressure/base';
import { parseArgs } from 'node:util';
import type { PlanRequest } from '../search/request.ts';
import { REQUEST_TEXTS, requestOf } from './request-texts.ts';
import { split, UsageError } from './values.ts';

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
const SIMULATE = 'simulate';

/**
 * Parses the arguments after the name of the program.
 *
 * @throws UsageError at the first mistake.
 */
export function parseCommand(args: readonly string[]): Command {
  if (args.length === 0 || args.includes('--help') || args.includes('-h')) return { name: 'help' };
  const { values, positionals } = split(parseArgs, args, TEXTS, FLAGS);
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

function fileOf(rest: readonly string[], values: ReadonlyMap<string, string>): string {
  const [file] = rest;
  if (file === undefined || rest.length > 1)
    throw new UsageError('simulate needs one file with a scenario, or - for standard input.');
  const [option] = values.keys();
  if (option !== undefined) throw new UsageError(`simulate does not take --${option}.`);
  return file;
}
