import { clock, plural } from '../data/format.ts';
import type { AnySource, Change } from '../data/wire.ts';
import { card, h } from '../parts/dom.ts';
import type { Page, Section } from '../parts/section.ts';

const MAX_SHOWN = 50;

/** The last changes, by anyone, on any source. */
export function changeSection(page: Page): Section<AnySource> {
  const list = h('ol', { class: 'changes' });
  const empty = h('p', { class: 'empty' }, 'Nothing has been changed.');
  let shown: Change | undefined;
  return {
    element: card('Changes', list, empty),
    update(): void {
      const [latest] = page.changes;
      empty.hidden = latest !== undefined;
      if (latest === shown) return;
      shown = latest;
      list.replaceChildren(
        ...page.changes
          .slice(0, MAX_SHOWN)
          .map((change) =>
            h(
              'li',
              {},
              h('time', {}, clock(change.at)),
              h('span', { class: 'cut', title: change.name }, change.name),
              h('span', {}, changeText(change)),
            ),
          ),
      );
    },
  };
}

/** What a change did, as text. */
function changeText({ action, count, options, endpoint, rate }: Change): string {
  if (action === 'rate') return `rate of ${endpoint ?? ''} → ${rateText(rate)}`;
  if (action === 'pause' || action === 'resume') {
    return `${action === 'pause' ? 'paused' : 'resumed'} ${endpoint ?? ''}`;
  }
  if (action !== undefined) {
    const done = action === 'redrive' ? 'redrove' : 'purged';
    return `${done} ${plural(count ?? 0, 'dead letter', 'dead letters')}`;
  }
  return Object.entries(options ?? {})
    .map(([name, value]) => `${name} → ${valueText(value)}`)
    .join(', ');
}

function rateText(rate: Change['rate']): string {
  if (rate === null || rate === undefined) return 'settings';
  return 'perSecond' in rate ? `${String(rate.perSecond)}/s` : `${String(rate.perMinute)}/min`;
}

function valueText(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
