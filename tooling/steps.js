import { spawnSync } from 'node:child_process';
import { root } from './packages.js';

/** Commands that run one after the other, each whatever became of the others, and their results. */
export class Steps {
  /** @type {{ name: string, verdict: string, isPassed: boolean }[]} */
  #results = [];

  /**
   * Runs a command from the root of the repository. The last line of its output is its verdict.
   *
   * @param {string} name
   * @param {string} command
   * @param {string[]} args
   * @param {NodeJS.ProcessEnv} [env] more variables of the environment
   */
  run(name, command, args, env = {}) {
    console.log(`\n=== ${name} ===`);
    const { status, error, stdout } = spawnSync(command, args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 28,
    });
    console.log(stdout);
    const verdict = error?.message ?? stdout.trim().split('\n').at(-1) ?? '';
    this.#results.push({ name, verdict, isPassed: status === 0 });
  }

  /**
   * Notes a step that could not run.
   *
   * @param {string} name
   * @param {string} verdict
   */
  fail(name, verdict) {
    this.#results.push({ name, verdict, isPassed: false });
  }

  /** Prints all verdicts. The process fails if a step did. */
  report() {
    console.log('\n=== all of it ===');
    for (const { name, verdict, isPassed } of this.#results) {
      console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}: ${verdict}`);
    }
    if (this.#results.some(({ isPassed }) => !isPassed)) process.exitCode = 1;
  }
}
