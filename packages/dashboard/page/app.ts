import {
  factsOf,
  idOf,
  withOptions,
  type AnySource,
  type Change,
  type Options,
  type PageState,
  type Source,
} from './data/wire.ts';
import { chosenId } from './data/address.ts';
import { sampleOf } from './data/sample.ts';
import { Series } from './data/series.ts';
import { clock } from './data/format.ts';
import { RequestError, type Client } from './parts/client.ts';
import type { ConnectionStatus } from './parts/connection.ts';
import { confirm, showDialog } from './parts/dialogs.ts';
import { button, h } from './parts/dom.ts';
import { problemOf, problemText } from './parts/problem.ts';
import type { Page, Question } from './parts/section.ts';
import { Header } from './parts/header.ts';
import { showIcon } from './parts/icon.ts';
import { News } from './data/news.ts';
import { viewOf, type View } from './view.ts';

const MAX_CHANGES = 200;

/** The page: it keeps the history of all sources, and shows one of them. */
export class App implements Page {
  readonly client: Client;
  allowUpdate = false;
  readonly changes: Change[] = [];
  readonly #series = new Map<string, Series>();
  readonly #header: Header;
  readonly #banner = h('div', { class: 'banner', role: 'status' });
  readonly #live = h('div', { class: 'hidden', 'aria-live': 'polite' });
  readonly #main = h('main', { id: 'main', tabindex: '-1' });
  readonly #news = new News();
  #sources: readonly AnySource[] = [];
  #startedAt: number | undefined;
  #view: View | undefined;
  #chosen = chosenId(location.hash);

  constructor(client: Client, onRetry: () => void) {
    this.client = client;
    this.#header = new Header({
      onChoose: (id) => {
        this.#choose(id);
      },
      onRetry,
    });
    document.body.append(
      h('a', { class: 'skip', href: '#main' }, 'Skip to the figures'),
      this.#header.element,
      this.#banner,
      this.#main,
      this.#live,
    );
    this.#main.append(h('p', { class: 'empty' }, 'Loading…'));
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#draw();
    });
  }

  take(state: PageState, isWhole: boolean): void {
    const { startedAt, at, allowUpdate, changes } = state;
    if (this.#startedAt !== undefined && startedAt !== this.#startedAt) this.#tellRestart(startedAt);
    this.#startedAt = startedAt;
    this.#sources = sourcesOf(state);
    for (const source of this.#sources) {
      const series = this.#seriesOf(source);
      if (isWhole && source.view.history !== undefined) series.replace(source.view.history);
      else series.append(at, sampleOf(source));
    }
    if (allowUpdate !== this.allowUpdate) {
      this.allowUpdate = allowUpdate;
      this.#drop();
    }
    if (isWhole && changes !== undefined) this.#replaceChanges(changes);
    for (const sentence of this.#news.of(this.#sources)) this.announce(sentence);
    this.#header.showTime(at);
    this.#draw();
  }

  noteChange(change: Change): void {
    this.changes.unshift(change);
    this.changes.length = Math.min(this.changes.length, MAX_CHANGES);
    if (change.options === undefined) this.#draw();
    else this.showOptions(change, change.options);
  }

  showOptions(of: Pick<AnySource, 'kind' | 'name'>, options: Options): void {
    this.#sources = this.#sources.map((source) => {
      if (source.kind === 'outbox' || idOf(source) !== idOf(of)) return source;
      return withOptions(source, options);
    });
    this.#draw();
  }

  showStatus(status: ConnectionStatus): void {
    this.#header.showStatus(status);
    document.body.classList.toggle('is-stale', status === 'lost' || status === 'unauthorized');
    if (status === 'lost') this.announce('Connection lost, retrying.');
    if (status === 'live') this.announce('Connected.');
  }

  announce(text: string): void {
    this.#live.append(h('p', {}, text));
    while (this.#live.childElementCount > 5) this.#live.firstElementChild?.remove();
  }

  confirm(question: Question): Promise<boolean> {
    return confirm(question);
  }

  async update(source: Source, options: Options): Promise<void> {
    try {
      this.showOptions(source, await this.client.update(source, options));
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const close = button('Close', () => {
        dialog.close();
      });
      const text = h('p', {}, ...problemText(problemOf(error)));
      const { dialog } = showDialog('Not changed', [text], [close], 'narrow');
    }
  }

  /** A change that arrived while the state was loaded is in both. */
  #replaceChanges(changes: readonly Change[]): void {
    this.changes.splice(0, Infinity, ...changes.toReversed());
  }

  #seriesOf(source: AnySource): Series {
    const id = idOf(source);
    let series = this.#series.get(id);
    if (series === undefined) {
      series = new Series();
      this.#series.set(id, series);
    }
    return series;
  }

  #choose(id: string): void {
    this.#chosen = id;
    history.replaceState(null, '', `#${encodeURIComponent(id)}`);
    this.#drop();
    this.#draw();
  }

  #drop(): void {
    this.#view?.close();
    this.#view = undefined;
  }

  #draw(): void {
    if (this.#startedAt === undefined) return;
    const source = this.#sources.find((one) => idOf(one) === this.#chosen) ?? this.#sources[0];
    this.#header.showSources(this.#sources, source);
    if (source === undefined) {
      this.#drop();
      this.#main.replaceChildren(
        h('p', { class: 'empty' }, 'This dashboard has no intake, no inbox and no outbox.'),
      );
      return;
    }
    showTitle(this.#sources, source);
    if (this.#view?.id !== idOf(source)) {
      this.#drop();
      this.#view = viewOf(source, this);
      this.#main.replaceChildren(this.#view.element);
    }
    this.#view.update(source, this.#seriesOf(source));
  }

  #tellRestart(startedAt: number): void {
    const text = `The process restarted at ${clock(startedAt)}. Counts and history began again.`;
    const close = button(
      'Dismiss',
      () => {
        this.#banner.replaceChildren();
      },
      'small',
    );
    this.#banner.replaceChildren(h('p', {}, text, ' ', close));
    this.#series.clear();
  }
}

/** Prototype-ish names are names like any other: only own properties are read. */
function sourcesOf({ intakes, inboxes, outboxes }: PageState): readonly AnySource[] {
  return [
    ...Object.entries(intakes).map(([name, view]): Source => ({ kind: 'intake', name, view })),
    ...Object.entries(inboxes).map(([name, view]): Source => ({ kind: 'inbox', name, view })),
    ...Object.entries(outboxes).map(([name, view]): AnySource => ({ kind: 'outbox', name, view })),
  ];
}

/** The tab of the browser shows the state too. */
function showTitle(sources: readonly AnySource[], shown: AnySource): void {
  const alarms = sources.reduce((sum, source) => sum + factsOf(source).alarms.length, 0);
  const { state } = factsOf(shown);
  const text = `${alarms > 0 ? `(${String(alarms)}) ` : ''}${state} · ${shown.name} · webhook-backpressure`;
  if (document.title !== text) document.title = text;
  showIcon(state);
}
