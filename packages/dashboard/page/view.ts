import type { Series } from './data/series.ts';
import type { AnySource } from './data/wire.ts';
import type { Page } from './parts/section.ts';
import { OutboxView } from './sender-view.ts';
import { SourceView } from './source-view.ts';

/** The figures that the page shows of one source. */
export interface View {
  readonly id: string;
  readonly element: HTMLElement;
  update(source: AnySource, series: Series): void;
  close(): void;
}

export function viewOf(first: AnySource, page: Page): View {
  if (first.kind === 'outbox') {
    const view = new OutboxView(first, page);
    return wrapped(view, (source, series) => {
      if (source.kind === 'outbox') view.update(source, series);
    });
  }
  const view = new SourceView(first, page);
  return wrapped(view, (source, series) => {
    if (source.kind !== 'outbox') view.update(source, series);
  });
}

function wrapped(
  view: Pick<View, 'id' | 'element' | 'close'>,
  update: (source: AnySource, series: Series) => void,
): View {
  const { id, element } = view;
  return {
    id,
    element,
    update,
    close: () => {
      view.close();
    },
  };
}
