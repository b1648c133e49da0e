import { compileFunction } from 'node:vm';
import ts from 'typescript';

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2022,
  esModuleInterop: true,
};

/**
 * Runs a block of TypeScript.
 *
 * @param modules - what it may import, by name. Some packages cannot be required.
 * @param names - other names that it uses.
 * @param returned - the name of the variable whose value is returned.
 */
export function runBlock(
  code: string,
  modules: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, unknown>> = {},
  returned = 'undefined',
): unknown {
  const { outputText } = ts.transpileModule(code, { compilerOptions });
  const given: Record<string, unknown> = {
    exports: {},
    require: (name: string) => {
      if (!(name in modules)) throw new Error(`The block imports ${name}.`);
      return modules[name];
    },
    ...names,
  };
  const run = compileFunction(`${outputText}\nreturn ${returned};`, Object.keys(given));
  return (run as (...values: unknown[]) => unknown)(...Object.values(given));
}
