import { count, percent } from '../data/format.ts';
import { snapshotOf, type Source } from '../data/wire.ts';
import { card, h, setCut, setText } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';
import { Table } from '../parts/table.ts';

interface Counted {
  readonly lossRisk: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly refusedByStatus?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly promises?: { readonly kept: number; readonly missed: number };
  readonly withdrawn?: Readonly<Record<string, number>>;
  readonly failed: number;
  readonly overdue: number;
  readonly duplicate?: number;
  readonly unverified?: number;
}

interface Reason {
  readonly reason: string;
  readonly by429: number | null;
  readonly by503: number | null;
  readonly all: number;
}

/** Facts that only one kind of source has, or that mean something else there. */
const OTHERS: Readonly<
  Record<Source['kind'], readonly (readonly [label: string, read: (totals: Counted) => string])[]>
> = {
  intake: [
    ['Left the queue before their start', withdrawnText],
    ['Failed', ({ failed }) => count(failed)],
    ['Handled for too long', ({ overdue }) => count(overdue)],
  ],
  inbox: [
    ['Failed attempts', ({ failed }) => count(failed)],
    ['Duplicates', ({ duplicate }) => count(duplicate)],
    ['Not verified', ({ unverified }) => count(unverified)],
  ],
};

/** Loss risk, endangered senders, promises, and refusals by reason: counts since the start. */
export function riskSection(kind: Source['kind']): Section {
  const loss = row('Refused although the sender never retries');
  const endangered = row('Senders close to disabling the endpoint');
  const names = h('ul', { class: 'chips' });
  const promises = row('Expected retries that were admitted on time');
  const others = OTHERS[kind].map(([label, read]) => ({ ...row(label), read }));
  const table = new Table<Reason>(
    'Refusals by reason',
    [
      { label: 'Refused because', class: 'name' },
      { label: '429', class: 'number' },
      { label: '503', class: 'number' },
      { label: 'All', class: 'number' },
    ],
    (cells, { reason, by429, by503, all }) => {
      const [name, first, second, sum] = cells as HTMLTableCellElement[];
      setText(name as Element, reason);
      setText(first as Element, count(by429));
      setText(second as Element, count(by503));
      setText(sum as Element, count(all));
    },
  );
  const none = h('p', { class: 'empty' }, 'Nothing has been refused since the start.');

  return {
    element: card(
      'Losses and refusals since the start',
      h(
        'dl',
        { class: 'facts' },
        ...loss.nodes,
        ...endangered.nodes,
        ...promises.nodes,
        ...others.flatMap(({ nodes }) => nodes),
      ),
      names,
      table.element,
      none,
    ),
    update(source): void {
      const totals = snapshotOf(source).totals as Counted;
      const senders = snapshotOf(source).endangered;
      setText(loss.value, count(totals.lossRisk));
      loss.value.classList.toggle('is-bad', totals.lossRisk > 0);
      setText(endangered.value, count(senders.length));
      endangered.value.classList.toggle('is-bad', senders.length > 0);
      showNames(names, senders);
      showPromises(promises.value, totals.promises);
      for (const { value, read } of others) setText(value, read(totals));
      const reasons = reasonsOf(totals);
      table.show(reasons);
      table.element.hidden = reasons.length === 0;
      none.hidden = reasons.length > 0;
    },
  };
}

function row(label: string): { nodes: readonly HTMLElement[]; value: HTMLElement } {
  const value = h('dd');
  return { nodes: [h('dt', {}, label), value], value };
}

function showNames(list: HTMLElement, names: readonly string[]): void {
  list.hidden = names.length === 0;
  while (list.children.length > names.length) list.lastElementChild?.remove();
  for (const [index, name] of names.entries()) {
    let item = list.children[index] as HTMLElement | undefined;
    if (item === undefined) {
      item = h('li', { class: 'chip bad' });
      list.append(item);
    }
    setCut(item, name);
  }
}

function showPromises(element: HTMLElement, promises: Counted['promises']): void {
  if (promises === undefined) {
    setText(element, '–');
    return;
  }
  const { kept, missed } = promises;
  const all = kept + missed;
  setText(element, all === 0 ? 'none yet' : `${count(kept)} of ${count(all)} (${percent(kept / all)})`);
}

function withdrawnText({ withdrawn = {} }: Counted): string {
  const parts = Object.entries(withdrawn).filter(([, number]) => number > 0);
  return parts.length === 0 ? '0' : parts.map(([cause, number]) => `${count(number)} ${cause}`).join(', ');
}

function reasonsOf({ refused, refusedByStatus }: Counted): Reason[] {
  return Object.entries(refused)
    .filter(([, all]) => all > 0)
    .map(([reason, all]) => ({
      reason,
      by429: refusedByStatus?.['429']?.[reason] ?? null,
      by503: refusedByStatus?.['503']?.[reason] ?? null,
      all,
    }))
    .sort((a, b) => b.all - a.all);
}
