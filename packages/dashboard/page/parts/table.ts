import { h, type Child } from './dom.ts';

export interface Column {
  readonly label: string;
  readonly class?: string;
}

/**
 * A table whose rows are reused, so that the focus stays where it is when figures change. `fill` writes a row's cells.
 */
export class Table<T> {
  readonly element: HTMLTableElement;
  readonly #body = h('tbody');
  readonly #columns: readonly Column[];
  readonly #fill: (cells: readonly HTMLTableCellElement[], item: T, isNew: boolean) => void;

  constructor(
    caption: string,
    columns: readonly Column[],
    fill: (cells: readonly HTMLTableCellElement[], item: T, isNew: boolean) => void,
  ) {
    this.#columns = columns;
    this.#fill = fill;
    const heads = columns.map(({ label, class: look }): Child => {
      return h('th', { scope: 'col', class: look }, label);
    });
    this.element = h(
      'table',
      {},
      h('caption', { class: 'hidden' }, caption),
      h('thead', {}, h('tr', {}, ...heads)),
      this.#body,
    );
  }

  show(items: readonly T[]): void {
    const rows = this.#body.rows;
    while (rows.length > items.length) this.#body.deleteRow(-1);
    for (const [index, item] of items.entries()) {
      let row = rows[index];
      const isNew = row === undefined;
      if (row === undefined) {
        row = h('tr', {}, ...this.#columns.map(({ class: look }) => h('td', { class: look })));
        this.#body.append(row);
      }
      this.#fill([...row.cells] as HTMLTableCellElement[], item, isNew);
    }
  }
}
