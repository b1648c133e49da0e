import { idOf, type OutboxSource } from './data/wire.ts';
import type { Series } from './data/series.ts';
import { h } from './parts/dom.ts';
import type { Page, Section } from './parts/section.ts';
import { FIRST_SPAN_MS, timeChoice } from './parts/time-choice.ts';
import { alarmSection } from './sections/alarms.ts';
import { changeSection } from './sections/changes.ts';
import { deadLetterSection } from './sections/dead-letters.ts';
import { endpointSection } from './sections/endpoints.ts';
import { senderChartSection } from './sections/sender-charts.ts';
import { senderHeadlineSection } from './sections/sender-headline.ts';

/** All sections about one sender. */
export class OutboxView {
  readonly id: string;
  readonly element: HTMLElement;
  readonly #sections: readonly Section<OutboxSource>[];
  #spanMs = FIRST_SPAN_MS;
  #latest: readonly [OutboxSource, Series] | undefined;

  constructor(source: OutboxSource, page: Page) {
    this.id = idOf(source);
    const spanMs = (): number => this.#spanMs;
    const alarms = alarmSection();
    const headline = senderHeadlineSection(spanMs);
    const endpoints = endpointSection(page);
    const charts = senderChartSection(spanMs);
    const letters = deadLetterSection(page);
    const changes = changeSection(page);
    this.#sections = [alarms, headline, endpoints, charts, letters, changes];
    const time = timeChoice((chosenMs) => {
      this.#spanMs = chosenMs;
      if (this.#latest !== undefined) this.update(...this.#latest);
    });
    this.element = h(
      'div',
      { id: 'panel', role: 'tabpanel', 'aria-label': source.name },
      ...[alarms, headline, endpoints].map(({ element }) => element),
      h('div', { class: 'bar-row' }, time),
      ...[charts, letters, changes].map(({ element }) => element),
    );
  }

  update(source: OutboxSource, series: Series): void {
    this.#latest = [source, series];
    // A hidden tab draws nothing; it is drawn when it is shown again.
    if (document.hidden) return;
    for (const section of this.#sections) section.update(source, series);
  }

  close(): void {
    for (const section of this.#sections) section.close?.();
  }
}
