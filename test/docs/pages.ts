import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import GithubSlugger from 'github-slugger';
import { lexer, walkTokens, type Token, type Tokens } from 'marked';
import { root } from '../../tooling/packages.js';

/** A page of the documentation. */
export interface Page {
  /** Its path from the top of the repository. */
  readonly path: string;
  readonly source: string;
  readonly tokens: readonly Token[];
}

const GENERATED = new Set(['node_modules', 'dist', 'api', 'temp', 'coverage', 'reports']);

/** The Markdown pages of the repository, without generated ones, by path. */
export const pages: readonly Page[] = markdownIn(root).sort().map(readPage);

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name.startsWith('.') || GENERATED.has(entry.name) ? [] : markdownIn(path);
    }
    // A changelog names files that may no longer exist.
    return entry.name.endsWith('.md') && entry.name !== 'CHANGELOG.md' ? [path] : [];
  });
}

function readPage(path: string): Page {
  const source = readFileSync(path, 'utf8');
  return { path: relative(root, path).split(sep).join('/'), source, tokens: lexer(source) };
}

export function page(path: string): Page {
  const found = pages.find((one) => one.path === path);
  if (found === undefined) throw new Error(`There is no page ${path}.`);
  return found;
}

interface TokenTypes {
  code: Tokens.Code;
  codespan: Tokens.Codespan;
  image: Tokens.Image;
  link: Tokens.Link;
}

/** All tokens of one type, at any depth. */
export function tokensOf<T extends keyof TokenTypes>(type: T, tokens: readonly Token[]): TokenTypes[T][] {
  const found: TokenTypes[T][] = [];
  void walkTokens([...tokens], (token) => {
    if (token.type === type) found.push(token as TokenTypes[T]);
  });
  return found;
}

/** What the links and images of a Markdown text lead to. */
export function linksIn(markdown: string): string[] {
  const tokens = lexer(markdown);
  return [...tokensOf('link', tokens), ...tokensOf('image', tokens)].map(({ href }) => href);
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf({ tokens }: Page): string[] {
  const slugger = new GithubSlugger();
  return tokens.filter(isHeading).map((heading) => slugger.slug(textOf(heading.tokens)));
}

/** The content under a heading, up to the next one of the same or a higher level. */
export function sectionOf({ path, tokens }: Page, title: string): Token[] {
  const start = tokens.findIndex((token) => isHeading(token) && textOf(token.tokens) === title);
  if (start === -1) throw new Error(`${path} has no heading ${title}.`);
  const { depth } = tokens[start] as Tokens.Heading;
  const rest = tokens.slice(start + 1);
  const end = rest.findIndex((token) => isHeading(token) && token.depth <= depth);
  return end === -1 ? rest : rest.slice(0, end);
}

/** The tables whose first column has this title: each row as its cells, in Markdown, by column title. */
export function rowsOf(tokens: readonly Token[], firstColumn: string): Record<string, string>[] {
  const tables = tokens.filter(isTable).filter(({ header }) => header[0]?.text === firstColumn);
  return tables.flatMap(({ header, rows }) =>
    rows.map((cells) =>
      Object.fromEntries(cells.map(({ text }, column) => [header[column]?.text ?? '', text])),
    ),
  );
}

/** The code spans of a cell: `a`, `b` gives a and b. */
export function codeIn(cell: string | undefined): string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
}

export function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

function isTable(token: Token): token is Tokens.Table {
  return token.type === 'table';
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map((token) => ('text' in token ? String(token.text) : '')).join('');
}
