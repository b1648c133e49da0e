/** The parts of a token of markdown-it that are used here. */
interface Token {
  readonly type: string;
  readonly content: string;
  attrSet(name: string, value: string): void;
}

/** Characters of Markdown in the longest cell. */
const WIDE = 70;
const MEDIUM = 25;

/** Gives columns of sentences a class for their width: a narrow screen would break them after every word. */
export function widenColumns(tokens: readonly Token[]): void {
  let columns: { readonly cells: Token[]; longest: number }[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'table_open') columns = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open' || token.type === 'td_open') {
      const { cells, longest } = columns[column] ?? { cells: [], longest: 0 };
      const { length } = tokens[index + 1]?.content ?? '';
      columns[column] = { cells: [...cells, token], longest: Math.max(longest, length) };
      column += 1;
    }
    if (token.type === 'table_close') columns.forEach(setWidth);
  }
}

function setWidth({ cells, longest }: { readonly cells: readonly Token[]; readonly longest: number }): void {
  if (longest <= MEDIUM) return;
  for (const cell of cells) cell.attrSet('class', longest > WIDE ? 'wide-cell' : 'medium-cell');
}
