import type { ActiveAlarm, ObservedInboxSnapshot } from '@webhook-backpressure/observe';
import type { ActiveOutboxAlarm, ObservedIntakeSnapshot } from '@webhook-backpressure/observe';
import type { Change, InboxView, IntakeView, OutboxView } from '../../src/state/page-state.ts';

export type { Change, History, PageState } from '../../src/state/page-state.ts';

/** The intake or the inbox that the page shows. */
export type Source =
  | { readonly kind: 'intake'; readonly name: string; readonly view: IntakeView }
  | { readonly kind: 'inbox'; readonly name: string; readonly view: InboxView };

/** A sender that the page shows. */
export interface OutboxSource {
  readonly kind: 'outbox';
  readonly name: string;
  readonly view: OutboxView;
}

/** The sources that the page shows. */
export type AnySource = Source | OutboxSource;

/** The options in force, as JSON. */
export type Options = Readonly<Record<string, unknown>>;

export type Snapshot = ObservedIntakeSnapshot | ObservedInboxSnapshot;

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

/** Chooses dead letters. */
export interface DeadLetterFilter {
  readonly sender?: string;
  readonly error?: string;
  readonly text?: string;
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

/** Whether other processes handle the deliveries. */
export function isReceiverAlone(source: Source): boolean {
  return source.kind === 'inbox' && source.view.snapshot.role === 'receiver';
}

/** Whether other processes receive the deliveries. */
export function isWorkerAlone(source: Source): boolean {
  return source.kind === 'inbox' && source.view.snapshot.role === 'worker';
}

/** The fields that all sources have. */
export function factsOf(source: AnySource): {
  readonly state: string;
  readonly alarms: readonly (ActiveAlarm | ActiveOutboxAlarm)[];
} {
  return source.view.snapshot;
}

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

/** The source with other options in force. One of null is gone. */
export function withOptions(source: Source, options: Options): Source {
  const { view } = source;
  const { snapshot } = view;
  const inForce = { ...snapshot.options, ...options };
  return { ...source, view: { ...view, snapshot: { ...snapshot, options: inForce } } } as Source;
}
