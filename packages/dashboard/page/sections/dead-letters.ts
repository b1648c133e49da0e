import { bytes, count, moment, plural } from '../data/format.ts';
import type { AnySource, DeadLetter } from '../data/wire.ts';
import { addToHead, button, card, h, setCut, setText } from '../parts/dom.ts';
import { problemOf, problemText } from '../parts/problem.ts';
import type { Page, Section } from '../parts/section.ts';
import { Table } from '../parts/table.ts';
import { deadLetterFilter } from './dead-letter-filter.ts';
import { showDeadLetter } from './dead-letter-dialog.ts';

/** While the number of dead letters changes, the list is loaded again no more often than this. */
const RELOAD_MS = 3000;

/** The dead-letter queue of an inbox or sender: list, show, redrive, purge. */
export function deadLetterSection(page: Page): Section<AnySource> {
  let of: Pick<AnySource, 'kind' | 'name'> = { kind: 'inbox', name: '' };
  let loadedFor = -1;
  let loadedMs = -Infinity;
  let isLoading = false;
  let items: readonly DeadLetter[] = [];
  let next: string | null = null;

  const table = new Table<DeadLetter>(
    'Dead letters',
    [
      { label: 'Since', class: 'since wide' },
      { label: 'Key', class: 'name' },
      { label: 'Id', class: 'name wide' },
      { label: 'Attempts', class: 'number attempts wide' },
      { label: 'Reason', class: 'reason' },
      { label: 'Actions', class: 'lever' },
    ],
    fill,
  );
  table.element.classList.add('dead');
  const empty = h('p', { class: 'empty' });
  const notice = h('p', { class: 'notice', role: 'status' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const more = button('Show more', () => load(true));
  const all = (['redrive', 'purge'] as const).map((action) =>
    button(
      action === 'redrive' ? 'Redrive all' : 'Purge all',
      () => settle(action),
      action === 'purge' ? 'danger' : 'plain',
    ),
  );
  const box = h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Dead letters' },
    table.element,
  );
  const { element: row, filter } = deadLetterFilter(() => load(false));
  const element = card('Dead letters', row, box, empty, notice, problem, more);
  if (page.allowUpdate) addToHead(element, h('div', { class: 'actions' }, ...all));

  function fill(cells: readonly HTMLTableCellElement[], item: DeadLetter, isNew: boolean): void {
    const [since, key, id, attempts, reason, actions] = cells as HTMLTableCellElement[];
    setText(since as Element, moment(item.deadAt));
    setCut(key as HTMLElement, item.key);
    setCut(id as HTMLElement, item.id);
    setText(attempts as Element, count(item.attempts));
    setCut(reason as HTMLElement, item.reason === 'overflow' ? 'The inbox was too full' : item.error);
    if (!isNew) return;
    const row = actions?.parentElement as HTMLTableRowElement;
    const letter = (): DeadLetter => items[row.sectionRowIndex] as DeadLetter;
    actions?.append(
      h(
        'div',
        { class: 'actions' },
        button('Show', () => show(letter()), 'small'),
        ...(page.allowUpdate
          ? [
              button('Redrive', () => settle('redrive', letter()), 'small'),
              button('Purge', () => settle('purge', letter()), 'small'),
            ]
          : []),
      ),
    );
  }

  async function load(isMore: boolean): Promise<void> {
    if (isLoading) return;
    isLoading = true;
    loadedMs = performance.now();
    try {
      const answer = await page.client.deadLetters(of, filter(), isMore ? (next ?? undefined) : undefined);
      items = isMore ? [...items, ...answer.items] : answer.items;
      ({ next } = answer);
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(...problemText(problemOf(error)));
    } finally {
      isLoading = false;
    }
    draw();
  }

  function draw(): void {
    table.show(items);
    box.hidden = items.length === 0;
    empty.hidden = items.length > 0;
    const isFiltered = filter() !== undefined;
    setText(empty, isFiltered ? 'No dead letters match.' : 'The dead-letter queue is empty.');
    for (const [at, verb] of ['Redrive', 'Purge'].entries())
      setText(all[at] as Element, isFiltered ? `${verb} matching` : `${verb} all`);
    more.hidden = next === null;
    for (const control of all) control.disabled = items.length === 0 && next === null;
  }

  async function show(letter: DeadLetter): Promise<void> {
    try {
      showDeadLetter(await page.client.deadLetter(of, letter.key, letter.id));
    } catch (error) {
      problem.replaceChildren(...problemText(problemOf(error)));
    }
  }

  async function settle(action: 'redrive' | 'purge', letter?: DeadLetter): Promise<void> {
    const isPurge = action === 'purge';
    const chosen = letter === undefined ? filter() : undefined;
    let which = letter === undefined ? 'all dead letters' : `the dead letter ${letter.id} of ${letter.key}`;
    if (chosen !== undefined) {
      try {
        const found = await page.client.settle(action, of, { filter: chosen, dryRun: true });
        which = `${found.isComplete ? '' : 'at least '}${plural(found.count, 'dead letter', 'dead letters')}`;
      } catch (error) {
        problem.replaceChildren(...problemText(problemOf(error)));
        return;
      }
    }
    const verb = isPurge ? 'Purge' : 'Redrive';
    // A single redrive can be repeated and loses nothing.
    const isConfirmed =
      (letter !== undefined && !isPurge) ||
      (await page.confirm({
        title: `${verb} ${letter !== undefined ? 'this dead letter' : chosen === undefined ? 'all dead letters' : 'the matching dead letters'}?`,
        text: isPurge
          ? `This deletes ${which} for good and forgets ${letter === undefined ? 'their ids, so that they' : 'the id, so that it'} may be sent again.`
          : `This puts ${which} back among the unfinished ones, with all attempts available again.`,
        action: verb,
        isDangerous: isPurge,
      }));
    if (!isConfirmed) return;
    try {
      const one = letter === undefined ? { filter: chosen } : { key: letter.key, id: letter.id };
      const { count: settled, isComplete } = await page.client.settle(action, of, one);
      const done = `${isPurge ? 'Purged' : 'Redrove'} ${plural(settled, 'dead letter', 'dead letters')}.`;
      setText(
        notice,
        isComplete
          ? done
          : `${done} ${isPurge ? 'There was no time for the others: purge them again.' : 'There is no room for the others yet: redrive them later.'}`,
      );
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(...problemText(problemOf(error)));
    }
    await load(false);
  }

  draw();
  return {
    element,
    update(source): void {
      if (source.kind === 'intake') return;
      of = source;
      const { deadLetters } = source.view.snapshot;
      setText(element.querySelector('h2') as Element, `Dead letters (${count(deadLetters)})`);
      if (source.kind === 'inbox') element.title = bytes(source.view.snapshot.deadLetterBytes);
      // A list with several pages would jump back to the first.
      const isStale = deadLetters !== loadedFor && items.length <= 100;
      if (!isStale || performance.now() - loadedMs < RELOAD_MS || document.hidden) return;
      loadedFor = deadLetters;
      void load(false);
    },
  };
}
