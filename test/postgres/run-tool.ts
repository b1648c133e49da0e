import { join } from 'node:path';
import { target } from '../../packages/postgres/src/cli/target.ts';
import { root } from '../../tooling/packages.js';
import { runHere, runProgram } from '../core/tool/run-program.ts';
import type { Ended } from '../core/tool/tool-bed.ts';

const TOOL = join(root, 'packages/postgres/dist/cli.js');

/** The variables that name a server, of the user who runs the tests. */
const OWN = /^(PG|DATABASE_URL$)/;

/** Runs the tool as a user does, who has set these variables and no others that name a server. */
export function tool(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name)));
  return runProgram(TOOL, args, { ...env, ...variables });
}

/** Runs the tool in this process. */
export function toolHere(args: readonly string[]): Promise<Ended> {
  return runHere(target, args);
}
