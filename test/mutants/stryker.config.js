import rooms from './rooms.json' with { type: 'json' };

// Tools that look for imports load this file without a room.
const name = /** @type {keyof typeof rooms} */ (process.env['MUTANTS_ROOM'] ?? 'buckets');

/** @type {Record<string, unknown>} */
export default {
  mutate: rooms[name].files,
  testRunner: 'vitest',
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
  // A copy would import the packages from the workspaces of the original.
  inPlace: true,
  // Otherwise all files of the repository get a comment while it runs.
  disableTypeChecks: false,
  coverageAnalysis: 'perTest',
  // Each of them would need a new process. They are constants.
  ignoreStatic: true,
  mutator: {
    // The sentences of errors, which other tests check, and members of unions, which the compiler checks.
    excludedMutations: ['StringLiteral'],
  },
  concurrency: 1,
  // A loop without an end is a change that is found. Added to 1.5 times the usual time of the tests.
  timeoutMS: 3000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `temp/mutants/${name}.json` },
  tempDirName: 'temp/mutants/originals',
  thresholds: { high: 90, low: 90, break: 90 },
};
