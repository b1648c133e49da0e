import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `12 passed, 0 failed, 1 skipped`, for machines that read the output. Whatever
 * went wrong outside a test, such as a file that does not load, counts as failed; a run without a test that ran
 * fails.
 */
export default class VerdictReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      failed += module.errors().length;
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'skipped') skipped += 1;
        else failed += 1;
      }
    }
    if (failed > 0 || passed === 0) process.exitCode = 1;
    const rest = skipped > 0 ? `, ${String(skipped)} skipped` : '';
    process.stdout.write(`\n${String(passed)} passed, ${String(failed)} failed${rest}\n`);
  }
}
