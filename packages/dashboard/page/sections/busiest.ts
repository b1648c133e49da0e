import { count, percentile } from '../data/format.ts';
import { shedKeys } from '../data/lever-values.ts';
import type { NamedFigures } from '@webhook-backpressure/observe';
import { optionsOf, snapshotOf, type Source } from '../data/wire.ts';
import { addToHead, button, card, h, setCut, setText } from '../parts/dom.ts';
import type { Page, Section } from '../parts/section.ts';
import { fillShare } from '../parts/share-cell.ts';
import { segmented } from '../parts/segmented.ts';
import { Table, type Column } from '../parts/table.ts';

const COLUMNS: readonly Column[] = [
  { label: 'Arrivals', class: 'number' },
  { label: 'Refused', class: 'number refused' },
  { label: 'Wait p99', class: 'number wide' },
  { label: 'Handling p99', class: 'number wide' },
];

/** The busiest keys, or the busiest senders, with their refusals. */
export function busiestSection(of: 'keys' | 'senders', page: Page): Section {
  const hasLever = of === 'keys' && page.allowUpdate;
  const title = of === 'keys' ? 'Busiest keys' : 'Busiest senders';
  let length: 'oneMinute' | 'fiveMinutes' = 'fiveMinutes';
  let latest: Source | undefined;
  const empty = h('p', { class: 'empty' });
  const table = new Table<NamedFigures>(
    title,
    [
      { label: of === 'keys' ? 'Key' : 'Sender', class: 'name' },
      ...COLUMNS,
      ...(hasLever ? [{ label: 'Action', class: 'lever' }] : []),
    ],
    (cells, figures, isNew) => {
      const [name, arrivals, refused, wait, handling, lever] = cells as HTMLTableCellElement[];
      setCut(name as HTMLElement, figures.name);
      setText(arrivals as Element, count(figures.arrivals));
      fillShare(refused as HTMLElement, figures.refused, figures.refusedRatio, isNew);
      setText(wait as Element, percentile(figures.waitMs.p99));
      setText(handling as Element, percentile(figures.handlingMs.p99));
      if (lever !== undefined) fillLever(lever, figures.name, isNew);
    },
  );

  function fillLever(cell: HTMLElement, key: string, isNew: boolean): void {
    const isOff = latest !== undefined && shedKeys(optionsOf(latest)).includes(key);
    if (isNew) {
      cell.append(
        button(
          '',
          () => {
            const { key: named = '', off } = (cell.firstElementChild as HTMLElement).dataset;
            void switchKey(named, off !== 'true');
          },
          'small',
        ),
      );
    }
    const control = cell.firstElementChild as HTMLElement;
    control.dataset['key'] = key;
    control.dataset['off'] = String(isOff);
    setText(control, isOff ? 'Admit' : 'Refuse');
    control.title = isOff ? `Admit deliveries of ${key} again` : `Refuse all deliveries of ${key}`;
    cell.parentElement?.classList.toggle('is-off', isOff);
  }

  async function switchKey(key: string, toOff: boolean): Promise<void> {
    const source = latest;
    if (source === undefined) return;
    const isConfirmed =
      !toOff ||
      (await page.confirm({
        title: 'Refuse all deliveries of this key?',
        text: `Key: ${key}. They are refused until you admit them again. Senders that never retry lose them.`,
        action: 'Refuse all',
        isDangerous: true,
      }));
    if (!isConfirmed) return;
    await page.update(source, { shed: { [key]: toOff } });
  }

  const element = card(title, table.element, empty);
  addToHead(
    element,
    segmented(
      'Time',
      [
        ['oneMinute', '1 min'],
        ['fiveMinutes', '5 min'],
      ],
      length,
      (chosen) => {
        length = chosen;
        if (latest !== undefined) show(latest);
      },
    ),
  );

  function show(source: Source): void {
    latest = source;
    const items = snapshotOf(source).windows[length][of];
    table.show(items);
    table.element.hidden = items.length === 0;
    empty.hidden = items.length > 0;
    setText(
      empty,
      of === 'keys'
        ? 'No delivery has arrived in this time.'
        : 'No delivery of a recognized sender has arrived in this time.',
    );
  }

  return { element, update: show };
}
