import { execFile } from 'node:child_process';

/** Runs a program to its end and gives what it printed; if it fails, the error says all that it printed. */
export function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${file} ${args.join(' ')} failed in ${cwd}:\n${stdout}${stderr}`));
    });
  });
}
