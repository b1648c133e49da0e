import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check, choicesOf, listOf, parseCommand, type Question, QUESTIONS, UsageError } from './choose.ts';
import { compose, type Surroundings } from './compose.ts';

/** Where the command reads and writes. */
export interface Terminal extends Surroundings {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks the user; undefined without a terminal. Rejects if the user ends it. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs the command line. @returns the exit code. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const { out, err, version } = terminal;
  try {
    const given = parseCommand(args);
    if (given.has('help') || given.has('version')) {
      out(given.has('help') ? help() : version);
      return DONE;
    }
    const answers = await complete(given, terminal);
    const folder = answers.get('folder') ?? '';
    const failure = await write(folder, compose(choicesOf(answers), terminal));
    if (failure !== undefined) {
      err(failure);
      return FAILED;
    }
    const steps = [...(folder === '.' ? [] : [`cd ${folder}`]), 'npm install', 'npm test', 'npm start'];
    out(`Created ${folder}.\n\n${steps.map((step) => `  ${step}`).join('\n')}\n`);
    return DONE;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(error.message);
    return WRONG_USAGE;
  }
}

/** Asks for what is not given, or takes the default. */
async function complete(
  given: ReadonlyMap<string, string>,
  terminal: Terminal,
): Promise<ReadonlyMap<string, string>> {
  const missing = QUESTIONS.filter(({ option }) => !given.has(option));
  const answers = new Map(given);
  for (const question of missing) answers.set(question.option, await answerTo(question, terminal));
  if (terminal.ask === undefined && missing.length > 0)
    terminal.out(
      `Without a terminal, defaults: ${missing.map(({ option, byDefault }) => `${option} ${byDefault}`).join(', ')}.`,
    );
  return answers;
}

async function answerTo(question: Question, { ask, err }: Terminal): Promise<string> {
  const { option, byDefault, names } = question;
  if (ask === undefined) return byDefault;
  const list = names === undefined ? '' : `, ${listOf(names)}`;
  for (;;) {
    const answer = (await ask(`${option}${list} (${byDefault}) `)).trim() || byDefault;
    try {
      check(question, answer);
      return answer;
    } catch (error) {
      err((error as UsageError).message);
    }
  }
}

/** @returns a sentence if the folder cannot be written. Nothing is ever overwritten. */
async function write(folder: string, files: Readonly<Record<string, string>>): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0)
      return `The folder ${folder} exists and is not empty. Nothing was written.`;
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { flag: 'wx' });
    }
    return undefined;
  } catch (error) {
    return `The folder ${folder} cannot be written: ${(error as Error).message}.`;
  }
}

function help(): string {
  const names = QUESTIONS.find(({ option }) => option === 'sender')?.names ?? [];
  const lines = names.flatMap((_, at) => (at % 7 === 0 ? [names.slice(at, at + 7).join(', ')] : []));
  return `Writes a folder that receives webhooks: verified, stored, acknowledged and processed, with a live page, metrics and a test.

Usage: npm create webhook-backpressure [FOLDER] -- [options]

Options
  --framework NAME  express, fastify, koa, hono or node (default express)
  --sender NAME     who sends; other: one without a ready-made verifier (default stripe)
  --store NAME      where deliveries are kept: sqlite, postgres or memory (default sqlite)
  --help            prints this text
  --version         prints the version

Senders
${lines.map((line) => `  ${line}`).join(',\n')}

It asks for what is not given; without a terminal it takes the defaults. FOLDER (default my-webhooks) must be new or empty.
Exit code: 0 done, 1 the folder cannot be written, 2 wrong usage.`;
}
