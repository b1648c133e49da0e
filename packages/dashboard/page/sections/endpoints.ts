import type { EndpointSnapshot } from '@webhook-backpressure/observe';
import { count, duration, percentile, plural, rate } from '../data/format.ts';
import type { OutboxSource } from '../data/wire.ts';
import { button, card, h, setCut, setText } from '../parts/dom.ts';
import { askRate } from '../parts/rate-dialog.ts';
import { problemOf, problemText } from '../parts/problem.ts';
import type { Page, Section } from '../parts/section.ts';
import { fillShare } from '../parts/share-cell.ts';
import { Table, type Column } from '../parts/table.ts';

const COLUMNS: readonly Column[] = [
  { label: 'Endpoint', class: 'name' },
  { label: 'State', class: 'condition' },
  { label: 'Queued', class: 'number wide' },
  { label: 'In flight', class: 'number wide' },
  { label: 'Rate', class: 'number rate wide' },
  { label: 'May start now', class: 'number wide' },
  { label: 'Asked to wait', class: 'number refused' },
  { label: 'Latency p50', class: 'number wide' },
  { label: 'p99', class: 'number wide' },
];

/** The busiest endpoints of a sender, with the actions of an operator. */
export function endpointSection(page: Page): Section<OutboxSource> {
  let sender = '';
  let shown: readonly EndpointSnapshot[] = [];
  let alarmed: ReadonlySet<string> = new Set();
  const columns = page.allowUpdate ? [...COLUMNS, { label: 'Actions', class: 'lever' }] : COLUMNS;
  const empty = h('p', { class: 'empty' }, 'No request was made in the last five minutes.');
  const problem = h('p', { class: 'problem', role: 'alert' });

  const table = new Table<EndpointSnapshot>('Endpoints', columns, (cells, endpoint, isNew) => {
    const [name, state, queued, inFlight, perSecond, tokens, limited, p50, p99, levers] =
      cells as HTMLTableCellElement[];
    const { window } = endpoint;
    setCut(name as HTMLElement, endpoint.endpoint);
    setCut(state as HTMLElement, stateText(endpoint));
    if (endpoint.lastError !== undefined) (state as HTMLElement).title = endpoint.lastError;
    setText(queued as Element, count(endpoint.queued));
    setText(inFlight as Element, `${count(endpoint.inFlight)} of ${count(endpoint.maxInFlight)}`);
    setText(perSecond as Element, rateText(endpoint));
    setText(tokens as Element, count(endpoint.tokens));
    fillShare(limited as HTMLElement, window?.limited ?? 0, window?.limitedRatio ?? 0, isNew);
    (limited as HTMLElement).title = `of ${plural(window?.attempts ?? 0, 'request', 'requests')} in 5 min`;
    setText(p50 as Element, percentile(window?.latencyMs.p50 ?? null));
    setText(p99 as Element, percentile(window?.latencyMs.p99 ?? null));
    const row = (name as HTMLElement).parentElement as HTMLTableRowElement;
    row.classList.toggle('is-off', isStopped(endpoint));
    row.classList.toggle('is-alarmed', alarmed.has(endpoint.endpoint));
    if (levers !== undefined) fillLevers(levers, row, endpoint, isNew);
  });
  const box = h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Endpoints' },
    table.element,
  );

  function fillLevers(
    cell: HTMLElement,
    row: HTMLTableRowElement,
    of: EndpointSnapshot,
    isNew: boolean,
  ): void {
    if (isNew) {
      const here = (): EndpointSnapshot => shown[row.sectionRowIndex] as EndpointSnapshot;
      cell.append(
        h(
          'div',
          { class: 'actions' },
          button('', () => attempt(() => switchOne(here())), 'small'),
          button('Rate', () => attempt(() => changeRate(here())), 'small'),
        ),
      );
    }
    const toggle = cell.firstElementChild?.firstElementChild as HTMLElement;
    const action = isStopped(of) ? 'Resume' : 'Pause';
    setText(toggle, action);
    toggle.setAttribute('aria-label', `${action} ${of.endpoint}`);
    toggle.nextElementSibling?.setAttribute('aria-label', `Rate of ${of.endpoint}`);
  }

  async function switchOne(of: EndpointSnapshot): Promise<void> {
    const { endpoint } = of;
    if (isStopped(of)) {
      await page.client.switchEndpoint(sender, endpoint, 'resume');
      return;
    }
    const isConfirmed = await page.confirm({
      title: 'Pause this endpoint?',
      text: `Endpoint: ${endpoint}. Its events are stored and wait, in all processes and after restarts, until you resume it.`,
      action: 'Pause',
    });
    if (isConfirmed) await page.client.switchEndpoint(sender, endpoint, 'pause');
  }

  async function changeRate({ endpoint, setRatePerSecond }: EndpointSnapshot): Promise<void> {
    const chosen = await askRate(endpoint, setRatePerSecond);
    if (chosen !== undefined) await page.client.setRate(sender, endpoint, chosen);
  }

  async function attempt(act: () => Promise<void>): Promise<void> {
    problem.replaceChildren();
    try {
      await act();
    } catch (error) {
      problem.replaceChildren(...problemText(problemOf(error)));
    }
  }

  table.element.classList.add('endpoints');
  const element = card('Endpoints', box, empty, problem);
  return {
    element,
    update({ name, view: { snapshot } }): void {
      sender = name;
      shown = snapshot.endpoints;
      alarmed = new Set(snapshot.alarms.flatMap(({ endpoint }) => endpoint ?? []));
      setText(element.querySelector('h2') as Element, `Endpoints, busiest first (${count(shown.length)})`);
      table.show(shown);
      box.hidden = shown.length === 0;
      empty.hidden = shown.length > 0;
    },
  };
}

function isStopped({ state }: EndpointSnapshot): boolean {
  return state === 'paused' || state === 'disabled';
}

function stateText({ state, pausedForMs, waitsBecause }: EndpointSnapshot): string {
  if (state === 'failing') return `failing, next in ${duration(pausedForMs)}`;
  if (state !== 'waiting') return state;
  return `waiting ${duration(pausedForMs)}${waitsBecause === 'rate-limit' ? ' (its limit)' : ''}`;
}

function rateText({ ratePerSecond, setRatePerSecond }: EndpointSnapshot): string {
  const now = rate(ratePerSecond);
  return ratePerSecond === setRatePerSecond ? now : `${now} of ${rate(setRatePerSecond)}`;
}
