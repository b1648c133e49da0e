/** The parts of a token of markdown-it that are used here. */
interface Token {
  type: string;
  content: string;
  readonly children: readonly Token[] | null;
  attrSet(name: string, value: string): void;
}

/** Longer code in a cell may be broken after these characters, so that its column is not as wide as the code. */
const LONG_CODE = 16;
const BREAKS = /(?<=[_./:,;=(|])(?=[^\s])/;

/** Gives each cell the title of its column, with which a narrow screen shows the row as a list. */
export function labelCells(tokens: readonly Token[]): void {
  let titles: string[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'table_open') titles = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type !== 'th_open' && token.type !== 'td_open') continue;
    const { children } = tokens[index + 1] ?? {};
    if (token.type === 'th_open') titles.push((children ?? []).map(({ content }) => content).join(''));
    else token.attrSet('data-label', titles[column] ?? '');
    children?.forEach(breakCode);
    column += 1;
  }
}

function breakCode(token: Token): void {
  if (token.type !== 'code_inline' || token.content.length < LONG_CODE) return;
  token.type = 'html_inline';
  token.content = `<code v-pre>${token.content.split(BREAKS).map(escaped).join('<wbr>')}</code>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
