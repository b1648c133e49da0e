import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line, `12 passed, 0 failed, 1 skipped`, for machines that read the output. Whatever
 * went wrong outside a test, such as a file that does not load, counts as failed; a run without a test that ran
 * fails. Before it, the reasons why tests were skipped, each once.
 */
export default class VerdictReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    const reasons = new Set<string>();
    for (const module of modules) {
      failed += module.errors().length;
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') passed += 1;
        else if (result.state === 'skipped') {
          skipped += 1;
          if (result.note !== undefined) reasons.add(`${module.relativeModuleId}: ${result.note}`);
        } else failed += 1;
      }
    }
    if (failed > 0 || passed === 0) process.exitCode = 1;
    for (const reason of reasons) process.stdout.write(`\nSKIPPED ${reason}`);
    if (reasons.size > 0) process.stdout.write('\n');
    const rest = skipped > 0 ? `, ${String(skipped)} skipped` : '';
    process.stdout.write(`\n${String(passed)} passed, ${String(failed)} failed${rest}\n`);
  }
}
