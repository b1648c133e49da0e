import { slug } from 'github-slugger';

/** The parts of a token of markdown-it that are used here. */
interface Token {
  readonly type: string;
  readonly content: string;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** Gives each row of a table of options an id from the option's name, so that the search can lead to the row. */
export function nameOptionRows(tokens: readonly Token[]): void {
  const used = new Set(tokens.map((token) => token.attrGet('id')));
  let isOptions = false;
  for (const [index, token] of tokens.entries()) {
    // Before the cell's text are the start of the row and of the cell.
    if (token.type === 'thead_open') isOptions = tokens[index + 3]?.content === 'Option';
    if (token.type !== 'tr_open' || !isOptions) continue;
    const [, name] = /^`([^`]+)`/.exec(tokens[index + 2]?.content ?? '') ?? [];
    const id = slug(name ?? '');
    // A heading of the same name has the better description.
    if (id === '' || used.has(id)) continue;
    used.add(id);
    token.attrSet('id', id);
  }
}
