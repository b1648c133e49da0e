import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { ScenarioError, simulate } from '@webhook-backpressure/planner/parts';

const USAGE = 'Name one scenario: npm run simulate -- scenario.json, or - for standard input.';

try {
  const { results } = await simulate(parse(await read(process.argv.slice(2))));
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
} catch (error) {
  if (!(error instanceof ScenarioError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function read(given: readonly string[]): Promise<string> {
  const [source] = given;
  if (source === undefined || given.length > 1) throw new ScenarioError(USAGE);
  if (source === '-') return text(process.stdin);
  // npm runs scripts in the root of the repository, and INIT_CWD is the folder of the user.
  const places = [resolve(source), resolve(process.env['INIT_CWD'] ?? '.', source)];
  const file = places.find((place) => existsSync(place));
  if (file === undefined) throw new ScenarioError(`The scenario ${source} does not exist.`);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ScenarioError(`The scenario ${source} cannot be read: ${reasonOf(error)}.`);
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new ScenarioError(`The scenario is not JSON: ${reasonOf(error)}.`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
}
