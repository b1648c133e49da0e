/** A column of a table: its title, and the cells of all rows. */
export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  readonly align: 'left' | 'right';
  /** Columns with higher numbers are left out first if the table is too wide. 0: never. */
  readonly dropped: number;
}

/** How a line is emphasized. */
export type Emphasis = (line: string, row: number) => string;

const GAP = '  ';

/** Renders a table with its titles, one line per row, no wider than `width` if columns can be left out. */
export function renderTable(columns: readonly Column[], width: number, emphasize: Emphasis): string[] {
  const shown = fitting(columns, width);
  const rows = Math.max(...shown.map(({ cells }) => cells.length));
  const line = (cellOf: (column: Column) => string): string =>
    shown
      .map((column) => padded(cellOf(column), widthOf(column), column.align))
      .join(GAP)
      .trimEnd();
  return [
    line(({ title }) => title),
    ...Array.from({ length: rows }, (_, row) =>
      emphasize(
        line(({ cells }) => cells[row] ?? ''),
        row,
      ),
    ),
  ];
}

function fitting(columns: readonly Column[], width: number): readonly Column[] {
  const total = columns.reduce((sum, column) => sum + widthOf(column) + GAP.length, -GAP.length);
  const first = Math.max(...columns.map(({ dropped }) => dropped));
  if (total <= width || first === 0) return columns;
  return fitting(
    columns.filter(({ dropped }) => dropped !== first),
    width,
  );
}

function widthOf({ title, cells }: Column): number {
  return Math.max(title.length, ...cells.map(({ length }) => length));
}

function padded(text: string, width: number, align: Column['align']): string {
  return align === 'left' ? text.padEnd(width) : text.padStart(width);
}

/** Breaks a text into lines of at most `width` characters, each after the first indented. */
export function wrapped(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
