import { execFile, type ExecFileException } from 'node:child_process';
import { parseArgs } from 'node:util';
import { runTool, type ToolTarget } from '@webhook-backpressure/inbox/tool';
import type { Ended } from './tool-bed.ts';

/** Runs a program of Node until it ends. */
export function runProgram(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [path, ...args], { env }, (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

/** Runs a tool in this process, which takes a tenth of the time. */
export async function runHere(target: ToolTarget, args: readonly string[]): Promise<Ended> {
  const written = { out: '', err: '' };
  const code = await runTool(args, target, parseArgs, {
    out: (text) => (written.out += `${text}\n`),
    err: (text) => (written.err += `${text}\n`),
  });
  return { code, ...written };
}
