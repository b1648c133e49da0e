import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { pages, tokensOf, type Page } from './pages.ts';
import { programOf } from './typescript.ts';

interface Block {
  /** Its path for the compiler: in the test folder, so that it can import the dependencies of the tests. */
  readonly file: string;
  readonly code: string;
  readonly line: number;
}

const LANGUAGES = new Set(['ts', 'js']);
// nestjs.test.ts compares its code with an example, which is compiled with decorators.
const compiled = pages.filter(({ path }) => path !== 'docs/nestjs.md');
const blocks = new Map(compiled.map((page) => [page.path, blocksOf(page)]));
const withCode = compiled.map(({ path }) => path).filter((path) => (blocks.get(path) ?? []).length > 0);
let program: ts.Program;

function blocksOf({ path, source, tokens }: Page): Block[] {
  const folder = join(root, 'test/docs/blocks', path);
  return tokensOf('code', tokens).flatMap(({ lang, text, raw }, index) =>
    LANGUAGES.has(lang ?? '')
      ? [
          {
            file: join(folder, nameIn(text) ?? `${String(index)}.${lang ?? ''}`),
            code: text,
            line: source.slice(0, source.indexOf(raw)).split('\n').length + 1,
          },
        ]
      : [],
  );
}

/** The name in the first line of a block that other blocks of the page import, as in `// listen.ts`. */
function nameIn(code: string): string | undefined {
  return /^\/\/ ([\w-]+\.ts)\n(?=[^]*^export )/m.exec(code)?.[1];
}

/** The block as a module, without the lines of docs/errors.md that are wrong on purpose. */
function moduleOf({ code }: Block): string {
  const right = code.replaceAll(/^.*\/\/ throws$/gm, '');
  return `${right}\nexport {};\n`;
}

function problemsOf(block: Block): string[] {
  const file = program.getSourceFile(block.file);
  if (file === undefined) throw new Error(`${block.file} was not compiled.`);
  const diagnostics = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return diagnostics.map(({ start = 0, messageText }) => {
    const line = block.line + file.getLineAndCharacterOfPosition(start).line;
    return `line ${String(line)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

beforeAll(() => {
  const virtual = [...blocks.values()].flat().map((block) => [block.file, moduleOf(block)] as const);
  const ambient = ['preamble.ts', 'peers.d.ts'].map((name) => join(import.meta.dirname, name));
  program = programOf(ambient, new Map(virtual));
}, 120_000);

it('finds code in the README and in docs', () => {
  expect(withCode).toEqual(expect.arrayContaining(['README.md', 'docs/frameworks.md', 'docs/errors.md']));
});

describe.each(withCode)('%s', (path) => {
  it('has only code that compiles', () => {
    expect((blocks.get(path) ?? []).flatMap(problemsOf)).toEqual([]);
  }, 120_000);
});
