import { builtinModules } from 'node:module';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Choices } from './chosen.ts';
import { FRAMEWORKS } from './frameworks.ts';
import { SENDERS } from './senders.ts';
import { STORES } from './stores.ts';

/** A wrong command line, or a wrong answer. The message is for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What can be chosen by an option or by an answer. */
export interface Question {
  readonly option: 'folder' | 'framework' | 'sender' | 'store';
  readonly byDefault: string;
  /** The names that exist; undefined for a folder. */
  readonly names: readonly string[] | undefined;
}

export const QUESTIONS: readonly Question[] = [
  { option: 'folder', byDefault: 'my-webhooks', names: undefined },
  { option: 'framework', byDefault: 'express', names: [...FRAMEWORKS.keys()] },
  { option: 'sender', byDefault: 'stripe', names: [...SENDERS.keys()] },
  { option: 'store', byDefault: 'sqlite', names: [...STORES.keys()] },
];

const TEXTS = ['framework', 'sender', 'store'];
const FLAGS = ['help', 'version'];
const MAX_NAME = 214;
const MAX_LISTED = 10;
const USAGE = 'npm create webhook-backpressure FOLDER -- --framework express';

/**
 * Parses the arguments after the name of the program.
 *
 * @returns the given values by option, `folder` among them; of `--help` and `--version` ''.
 * @throws UsageError at the first mistake.
 */
export function parseCommand(args: readonly string[]): ReadonlyMap<string, string> {
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' }] as const)),
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
    // The messages of the strict mode are not for users of npm.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const isText = TEXTS.includes(name);
    if (!isText && !FLAGS.includes(name))
      throw new UsageError(`Unknown option "${rawName}". --help lists the options.`);
    if (isText && (value ?? '').replace(/^-.*/, '') === '') throw new UsageError(`--${name} needs a value.`);
    if (!isText && value !== undefined) throw new UsageError(`--${name} takes no value.`);
    if (given.has(name)) throw new UsageError(`--${name} must be given once.`);
    given.set(name, value ?? '');
  }
  const [folder, another] = positionals;
  if (another !== undefined)
    throw new UsageError(
      `There must be one folder, but also "${another}" was given. npm passes options on after --: ${USAGE}`,
    );
  if (folder !== undefined) given.set('folder', folder);
  for (const question of QUESTIONS) {
    const value = given.get(question.option);
    if (value !== undefined) check(question, value);
  }
  return given;
}

/** The names of an option, for the user. */
export function listOf(names: readonly string[]): string {
  return names.length > MAX_LISTED ? 'a name that --help lists' : `one of ${names.join(', ')}`;
}

/** @throws UsageError for a value that does not exist, and for a folder whose name no package can have. */
export function check({ option, names }: Question, value: string): void {
  if (names === undefined) {
    checkName(basename(resolve(value)));
  } else if (!names.includes(value)) {
    throw new UsageError(`--${option} must be ${listOf(names)}, but was "${value}".`);
  }
}

/** The rules of npm for new packages. */
function checkName(name: string): void {
  const isReserved = name === 'node_modules' || builtinModules.includes(name);
  if (!/^[a-z\d][a-z\d._-]*$/.test(name) || name.length > MAX_NAME || isReserved)
    throw new UsageError(
      `The name of the folder is that of its package: 1 to ${String(MAX_NAME)} of a-z, 0-9, ".", "_" and "-", the first one a letter or digit, and not the name of a module of Node.js, but was "${name}".`,
    );
}

/** The choices of complete answers. */
export function choicesOf(answers: ReadonlyMap<string, string>): Choices {
  const [folder = '', framework = '', sender = '', store = ''] = QUESTIONS.map(({ option }) =>
    answers.get(option),
  );
  return { name: basename(resolve(folder)), framework, sender, store };
}
