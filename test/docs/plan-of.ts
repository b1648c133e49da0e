import { runCli } from '../../packages/planner/src/cli/run-cli.ts';

/** What the command of the planner prints. */
export async function planOf(args: readonly string[]): Promise<string> {
  let output = '';
  await runCli(args, {
    out: (text) => (output += text),
    err: (text) => (output += text),
    terminal: { columns: 100, isColored: false },
    version: '',
    now: () => 0,
  });
  return output;
}
