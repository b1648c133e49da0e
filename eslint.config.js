import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores([
    '**/dist/',
    '**/coverage/',
    'packages/*/types/',
    'packages/dashboard/src/page/document.ts',
    'docs/api/',
    'site/.vitepress/{cache,.temp}/',
    'temp/',
    // Their frameworks are installed on demand.
    'e2e/hosts/apps/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // One program for all: one for each tsconfig.json would parse and check the same sources again.
        project: ['tsconfig.lint.json', 'packages/dashboard/page/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // The compiler reports names that do not exist, in JavaScript as well: all of it is type-checked.
      'no-undef': 'off',
      // Where an invariant rules out `undefined`, `as T` says so; the strict set forbids the `!` that this rule
      // would have instead.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // There are no enums, and the rule takes a tenth of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Express merges what middleware adds to a request from a global namespace.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      // A framework counts an error handler's parameters, so some must stand there unused.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['examples/nestjs/**', 'test/nest/**'],
    rules: {
      // Modules are classes whose decorators hold everything.
      '@typescript-eslint/no-extraneous-class': 'off',
      // Nest declares the types of its options as classes.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    // What is longer holds more than one idea.
    files: ['packages/*/src/**', 'test/**', 'e2e/**', 'bench/**', 'demo/**', 'tooling/**', 'site/**'],
    rules: { 'max-lines': ['error', 300] },
  },
  {
    // An unhandled rejection ends the process: `inBackground` of packages/base handles it.
    files: ['packages/*/src/**'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          ignoreVoid: false,
          // It resolves when the reply is over.
          allowForKnownSafePromises: [{ from: 'package', package: 'fastify', name: 'FastifyReply' }],
        },
      ],
    },
  },
  {
    // The tests bring the types of browsers into the program, which declare the body of a response more closely.
    files: ['packages/reconcile/src/run-fetch.ts'],
    rules: { '@typescript-eslint/no-unnecessary-type-assertion': 'off' },
  },
  {
    // One class decides. Cut in two, each half would need the other to be understood.
    files: ['packages/core/src/intake/bounded-intake.ts'],
    rules: { 'max-lines': ['error', 800] },
  },
  {
    // One class decides which delivery is claimed, and the other has a call for each one of the contract.
    files: ['packages/inbox/src/store/memory/**'],
    rules: { 'max-lines': ['error', 500] },
  },
  {
    // The lists, counts and moves of one schema, which its store and its tool share.
    files: ['packages/postgres/src/store/stored-deliveries.ts'],
    rules: { 'max-lines': ['error', 400] },
  },
  {
    // One class from the calendar to the start of a request, and one that composes a sender: what they call is elsewhere.
    files: ['packages/sender/src/dispatch/dispatcher.ts', 'packages/sender/src/sender.ts'],
    rules: { 'max-lines': ['error', 500] },
  },
  {
    // One class connects the parts of an inbox. Cut in two, each half would pass the parts to the other.
    files: ['packages/inbox/src/durable-inbox.ts'],
    rules: { 'max-lines': ['error', 430] },
  },
  {
    // Adapters translate; every decision is the core's. Main entries of other packages only export.
    files: ['packages/*/src/index.ts'],
    rules: { 'max-lines': ['error', 110] },
  },
);
