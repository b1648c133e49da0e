import type { InboxSnapshot, IntakeSnapshot } from '@webhook-backpressure/core';
import type { Change, InboxView, IntakeView } from '../../src/state/page-state.ts';

export type { Change, History, PageState } from '../../src/state/page-state.ts';

/** The intake or the inbox that the page shows. */
export type Source =
  | { readonly kind: 'intake'; readonly name: string; readonly view: IntakeView }
  | { readonly kind: 'inbox'; readonly name: string; readonly view: InboxView };

/** The options in force, as JSON. */
export type Options = Readonly<Record<string, unknown>>;

export interface Percentiles {
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface Figures {
  readonly arrivals: number;
  readonly refused: number;
  readonly refusedRatio: number;
  readonly completed: number;
  readonly failed: number;
  readonly waitMs: Percentiles;
  readonly handlingMs: Percentiles;
  readonly retryAfterSeconds: Percentiles;
}

export interface NamedFigures extends Figures {
  readonly name: string;
}

export interface Window {
  readonly seconds: number;
  readonly all: Figures;
  readonly keys: readonly NamedFigures[];
  readonly senders: readonly NamedFigures[];
}

export interface Alarm {
  readonly code: string;
  readonly sinceMs: number;
  readonly value: number;
  readonly threshold: number;
  readonly message: string;
  readonly help: string;
}

/** Fields that both kinds of snapshot have, and some that a snapshot of an older core package lacks. */
interface Measured {
  readonly windows?: { readonly oneMinute: Window; readonly fiveMinutes: Window };
  readonly alarms?: readonly Alarm[];
}

export type Snapshot = (IntakeSnapshot | InboxSnapshot) & Measured;

/** A dead letter in the list. Times are in milliseconds since 1970. */
export interface DeadLetter {
  readonly key: string;
  readonly id: string;
  readonly sender: string | null;
  readonly method: string;
  readonly url: string;
  readonly attempts: number;
  readonly reason: 'dead' | 'overflow';
  readonly error: string;
  readonly receivedAt: number;
  readonly deadAt: number;
  readonly bodyBytes: number;
  readonly isEncrypted?: boolean;
}

export interface DeadLetterPage {
  readonly items: readonly DeadLetter[];
  readonly next: string | null;
}

/** A dead letter with its headers and the beginning of its body. */
export interface WholeDeadLetter extends DeadLetter {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isCut: boolean;
}

/** An error of the server. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
  readonly option?: string | undefined;
}

/** The history columns and their values at one moment. */
export type Sample = Readonly<Record<string, number | string | null>>;

export type { InboxView, IntakeView };

export function snapshotOf(source: Source): Snapshot {
  return source.view.snapshot;
}

export function optionsOf(source: Source): Options {
  return source.view.snapshot.options as unknown as Options;
}

/** The name of a source in the list of changes, in addresses and in announcements. */
export function idOf({ kind, name }: Pick<Change, 'kind' | 'name'>): string {
  return `${kind}/${name}`;
}
