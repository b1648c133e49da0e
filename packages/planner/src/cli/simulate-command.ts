import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { simulate } from '../results/simulate.ts';
import { ScenarioError } from '../scenario/fields.ts';

/** Runs a scenario file, or that of standard input, and returns its results as JSON. */
export async function simulateFile(file: string): Promise<string> {
  const { results } = await simulate(parse(await read(file)));
  return JSON.stringify(results, null, 2);
}

async function read(source: string): Promise<string> {
  if (source === '-') return text(process.stdin);
  // npm runs the scripts of a package in its folder, and INIT_CWD is the folder of the user.
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
