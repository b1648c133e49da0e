import { idOf, type Source } from './data/wire.ts';
import type { Series } from './data/series.ts';
import { h } from './parts/dom.ts';
import type { Page, Section } from './parts/section.ts';
import { FIRST_SPAN_MS, timeChoice } from './parts/time-choice.ts';
import { alarmSection } from './sections/alarms.ts';
import { busiestSection } from './sections/busiest.ts';
import { changeSection } from './sections/changes.ts';
import { chartSection } from './sections/charts.ts';
import { deadLetterSection } from './sections/dead-letters.ts';
import { headlineSection } from './sections/headline.ts';
import { leverSection } from './sections/levers.ts';
import { riskSection } from './sections/risk.ts';
import { whatIfSection } from './sections/what-if.ts';

/** All sections about one intake or inbox. */
export class SourceView {
  readonly id: string;
  readonly element: HTMLElement;
  readonly #sections: readonly Section[];
  #spanMs = FIRST_SPAN_MS;
  #latest: readonly [Source, Series] | undefined;

  constructor(source: Source, page: Page) {
    const { kind } = source;
    this.id = idOf(source);
    const spanMs = (): number => this.#spanMs;
    const alarms = alarmSection();
    const headline = headlineSection(spanMs);
    const charts = chartSection(kind, spanMs);
    const keys = busiestSection('keys', page);
    const senders = busiestSection('senders', page);
    const risk = riskSection(kind);
    const letters = kind === 'inbox' ? deadLetterSection(page) : undefined;
    const levers = page.allowUpdate ? leverSection(page, kind) : undefined;
    const whatIf = whatIfSection();
    const changes = changeSection(page);
    this.#sections = [alarms, headline, charts, keys, senders, risk, letters, levers, whatIf, changes].filter(
      (section) => section !== undefined,
    );
    this.element = h(
      'div',
      { id: 'panel', role: 'tabpanel', 'aria-label': source.name },
      alarms.element,
      headline.element,
      h(
        'div',
        { class: 'bar-row' },
        timeChoice((chosenMs) => {
          this.#spanMs = chosenMs;
          if (this.#latest !== undefined) this.update(...this.#latest);
        }),
      ),
      charts.element,
      letters?.element ?? null,
      // Two columns of different lengths leave no holes. On a phone they follow each other.
      h(
        'div',
        { class: 'pair' },
        h('div', { class: 'stack' }, keys.element, levers?.element ?? whatIf.element),
        h(
          'div',
          { class: 'stack' },
          senders.element,
          risk.element,
          levers === undefined ? null : whatIf.element,
          changes.element,
        ),
      ),
    );
  }

  update(source: Source, series: Series): void {
    this.#latest = [source, series];
    // A hidden tab draws nothing; it is drawn when it is shown again.
    if (document.hidden) return;
    for (const section of this.#sections) section.update(source, series);
  }

  close(): void {
    for (const section of this.#sections) section.close?.();
  }
}
