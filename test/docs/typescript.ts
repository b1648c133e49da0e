import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from '../../tooling/packages.js';

const { options } = ts.getParsedCommandLineOfConfigFile(
  join(root, 'test/tsconfig.json'),
  { noEmit: true, incremental: false },
  {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (problem) => {
      throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'));
    },
  },
) as ts.ParsedCommandLine;

/** By path. Reading and parsing them takes longer than most checks. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiles files of the repository, and others that exist only here, by absolute path. */
export function programOf(
  files: readonly string[],
  virtual: ReadonlyMap<string, string> = new Map(),
): ts.Program {
  const host = ts.createCompilerHost(options);
  const folders = new Set([...virtual.keys()].map((path) => dirname(path)));
  return ts.createProgram([...files, ...virtual.keys()], options, {
    ...host,
    directoryExists: (path) => folders.has(path) || (host.directoryExists?.(path) ?? true),
    fileExists: (path) => virtual.has(path) || host.fileExists(path),
    readFile: (path) => virtual.get(path) ?? host.readFile(path),
    getSourceFile(path, target, onError, shouldCreate) {
      const text = virtual.get(path);
      if (text !== undefined) return ts.createSourceFile(path, text, target);
      if (!parsed.has(path)) parsed.set(path, host.getSourceFile(path, target, onError, shouldCreate));
      return parsed.get(path);
    },
  });
}

/** What the compiler reports about a file of the program. */
export function problemsIn(program: ts.Program, path: string): string[] {
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} was not compiled.`);
  const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** A type that an entry of a package exports. */
export function typeIn(program: ts.Program, entry: string, name: string): ts.Type {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  const symbol = module && checker.getExportsOfModule(module).find((one) => one.name === name);
  if (symbol === undefined) throw new Error(`${entry} exports no ${name}.`);
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  return checker.getDeclaredTypeOfSymbol(isAlias ? checker.getAliasedSymbol(symbol) : symbol);
}

/** The source of the main entry of a package. */
export function entryFile(folder: string): string {
  return join(root, 'packages', folder, 'src/index.ts');
}

/** The values of a union of string literals. */
export function literalsOf(type: ts.Type): string[] {
  const types = type.isUnion() ? type.types : [type];
  return types.flatMap((one) => (one.isStringLiteral() ? [one.value] : []));
}

/** The values of a union of string literals, all of which are in its declaration: without a program, which takes seconds. */
export function literalsIn(path: URL, name: string): string[] {
  const source = ts.createSourceFile(path.pathname, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const declared = source.statements.find(
    (one): one is ts.TypeAliasDeclaration => ts.isTypeAliasDeclaration(one) && one.name.text === name,
  );
  if (declared === undefined || !ts.isUnionTypeNode(declared.type))
    throw new Error(`${path.pathname} declares no union ${name}.`);
  return declared.type.types.map((one) => {
    if (ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal)) return one.literal.text;
    throw new Error(`Not all types of ${name} are string literals.`);
  });
}
