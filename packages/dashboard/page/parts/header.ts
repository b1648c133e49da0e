import { STATE_COLOR } from '../charts/colors.ts';
import { clock } from '../data/format.ts';
import { factsOf, idOf, type AnySource } from '../data/wire.ts';
import type { ConnectionStatus } from './connection.ts';
import { button, h, setAttribute, setCut, setText } from './dom.ts';

interface Callbacks {
  readonly onChoose: (id: string) => void;
  readonly onRetry: () => void;
}

const WORDS: Readonly<Record<ConnectionStatus, string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost, retrying',
  unauthorized: 'Not authorized. Sign in again, then reload.',
};

interface Tab {
  readonly element: HTMLButtonElement;
  readonly dot: HTMLElement;
  readonly state: HTMLElement;
  readonly alarms: HTMLElement;
}

/** The bar at the top: the tabs of the sources, and whether the figures are live. */
export class Header {
  readonly element: HTMLElement;
  readonly #tabs = h('div', {
    class: 'tabs',
    role: 'tablist',
    'aria-label': 'Intakes, inboxes and outboxes',
  });
  readonly #word = h('span');
  readonly #time = h('time', { class: 'note' });
  readonly #connection: HTMLElement;
  readonly #retry: HTMLButtonElement;
  readonly #shown = new Map<string, Tab>();
  readonly #callbacks: Callbacks;
  #status: ConnectionStatus = 'connecting';

  constructor(callbacks: Callbacks) {
    this.#callbacks = callbacks;
    this.#retry = button('Retry now', callbacks.onRetry, 'small');
    this.#connection = h(
      'div',
      { class: 'connection is-connecting' },
      h('i', { class: 'dot', 'aria-hidden': 'true' }),
      h('span', { role: 'status' }, this.#word),
      this.#time,
      this.#retry,
    );
    this.element = h(
      'header',
      { class: 'top' },
      h('h1', {}, 'Webhook backpressure'),
      this.#tabs,
      this.#connection,
    );
    this.#tabs.addEventListener('keydown', (event) => {
      this.#moveFocus(event);
    });
    this.showStatus('connecting');
  }

  showStatus(status: ConnectionStatus): void {
    this.#status = status;
    setText(this.#word, WORDS[status]);
    setAttribute(this.#connection, 'class', `connection is-${status}`);
    this.#retry.hidden = status !== 'lost';
  }

  showTime(at: number): void {
    setText(this.#time, clock(at));
    setAttribute(this.#time, 'datetime', new Date(at).toISOString());
    this.#time.title = `The last figures are of this time (${this.#status}).`;
  }

  showSources(sources: readonly AnySource[], chosen: AnySource | undefined): void {
    const ids = new Set(sources.map(idOf));
    for (const [id, { element }] of this.#shown) {
      if (ids.has(id)) continue;
      element.remove();
      this.#shown.delete(id);
    }
    for (const source of sources) {
      const id = idOf(source);
      const tab = this.#shown.get(id) ?? this.#add(id, source);
      const { state, alarms } = factsOf(source);
      const isChosen = source === chosen;
      setAttribute(tab.dot, 'class', `dot is-${STATE_COLOR[state] ?? 'off'}`);
      setText(tab.state, `, ${state}`);
      setText(tab.alarms, String(alarms.length));
      tab.alarms.title = alarms.length === 1 ? 'One alarm' : `${String(alarms.length)} alarms`;
      (tab.alarms.parentElement as HTMLElement).hidden = alarms.length === 0;
      setAttribute(tab.element, 'aria-selected', String(isChosen));
      setAttribute(tab.element, 'tabindex', isChosen ? '0' : '-1');
    }
  }

  #add(id: string, { name, kind }: AnySource): Tab {
    const dot = h('i', { 'aria-hidden': 'true' });
    const label = h('span', { class: 'cut' });
    setCut(label, name);
    const state = h('span', { class: 'hidden' });
    const alarms = h('b');
    const element = h(
      'button',
      { type: 'button', class: 'tab', role: 'tab', 'aria-controls': 'panel' },
      dot,
      label,
      h('span', { class: 'kind' }, kind),
      state,
      h('span', { class: 'badge' }, alarms, h('span', { class: 'hidden' }, ' alarms')),
    );
    element.addEventListener('click', () => {
      this.#callbacks.onChoose(id);
    });
    this.#tabs.append(element);
    const tab = { element, dot, state, alarms };
    this.#shown.set(id, tab);
    return tab;
  }

  #moveFocus(event: KeyboardEvent): void {
    const tabs = [...this.#shown.values()].map(({ element }) => element);
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: tabs.length - 1,
    };
    const to = steps[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab?.focus();
    tab?.click();
  }
}
