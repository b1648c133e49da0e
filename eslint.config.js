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
    'test/hosts/apps/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          // The tools' own configuration at the top belongs to no package and so to no tsconfig.json there.
          allowDefaultProject: ['*.js', '*.ts', '.*.js'],
          defaultProject: 'tooling/tsconfig.json',
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // The compiler reports names that do not exist, in JavaScript as well: all of it is type-checked.
      'no-undef': 'off',
      // Where an invariant rules out `undefined`, `as T` says so; the strict set forbids the `!` that this rule
      // would have instead.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
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
    files: ['packages/*/src/**', 'test/**', 'bench/**', 'demo/**', 'tooling/**', 'site/**'],
    rules: { 'max-lines': ['error', 300] },
  },
  {
    // One class decides. Cut in two, each half would need the other to be understood.
    files: ['packages/core/src/intake/bounded-intake.ts'],
    rules: { 'max-lines': ['error', 800] },
  },
  {
    // Adapters translate; every decision is the core's. Main entries of other packages only export.
    files: ['packages/*/src/index.ts'],
    rules: { 'max-lines': ['error', 100] },
  },
);
