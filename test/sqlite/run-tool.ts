import { join } from 'node:path';
import { target } from '../../packages/sqlite/src/cli/target.ts';
import { openDatabase } from '../../packages/sqlite/src/connection/drivers.ts';
import { root } from '../../tooling/packages.js';
import { runHere, runProgram } from '../core/tool/run-program.ts';
import type { Ended } from '../core/tool/tool-bed.ts';

const TOOL = join(root, 'packages/sqlite/dist/cli.js');
const OTHER_USER = 65_534;

/** Runs the tool as a user does. */
export function tool(...args: readonly string[]): Promise<Ended> {
  return runProgram(TOOL, args);
}

/** Runs the tool in this process. */
export function toolHere(...args: readonly string[]): Promise<Ended> {
  return runHere(target, args);
}

/**
 * Runs the tool in this process, as a user whom file modes apply to. Not in a child process: another user may have no
 * permission to read the clone or Node itself.
 */
export async function toolWithoutRoot(...args: readonly string[]): Promise<Ended> {
  const isRoot = process.getuid?.() === 0;
  // Loads SQLite from the clone while that is still possible.
  openDatabase(':memory:', 0).close();
  if (isRoot) process.seteuid?.(OTHER_USER);
  try {
    return await toolHere(...args);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
