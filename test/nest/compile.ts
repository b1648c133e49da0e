import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from '../../tooling/packages.js';

const example = join(root, 'examples/nestjs');

/** The source files of the example, by their path in its folder. */
export const sources: ReadonlyMap<string, string> = new Map(
  readdirSync(example, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('dist'))
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(example, path), 'utf8')]),
);

/** Compiles the example into a folder whose node_modules contain Nest, and adds the children of the tests. Nest 12 is ESM. */
export function compileTo(folder: string, format: 'esm' | 'commonjs'): void {
  const { compilerOptions } = ts.readConfigFile(join(example, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  ).config as { compilerOptions: object };
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, example);
  for (const [path, source] of sources) {
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        ...options,
        target: ts.ScriptTarget.ES2023,
        module: format === 'esm' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS,
      },
    });
    write(join(folder, path.replace(/\.ts$/, '.js')), outputText);
  }
  write(join(folder, 'package.json'), JSON.stringify({ type: format === 'esm' ? 'module' : 'commonjs' }));
  const children = join(import.meta.dirname, 'children');
  for (const name of readdirSync(children)) copyFileSync(join(children, name), join(folder, name));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
