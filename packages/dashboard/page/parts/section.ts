import type { Series } from '../data/series.ts';
import type { AnySource, Change, Options, Source } from '../data/wire.ts';
import type { Client } from './client.ts';

/** A part of the page about one source: an intake or inbox, unless it says otherwise. */
export interface Section<S extends AnySource = Source> {
  readonly element: HTMLElement;
  update(source: S, series: Series): void;
  close?(): void;
}

/** What sections share. */
export interface Page {
  readonly client: Client;
  /** Whether levers are shown. */
  readonly allowUpdate: boolean;
  /** Says something to screen readers. */
  announce(text: string): void;
  /** Asks for a confirmation. */
  confirm(question: Question): Promise<boolean>;
  /** Changes options of the source on the page. Shows an error in a dialog. */
  update(source: Source, options: Options): Promise<void>;
  /** Shows options that are in force, before the next state has them. */
  showOptions(source: Pick<AnySource, 'kind' | 'name'>, options: Options): void;
  /** The changes since the page was opened, the newest first. */
  readonly changes: readonly Change[];
}

export interface Question {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isDangerous?: boolean;
}
