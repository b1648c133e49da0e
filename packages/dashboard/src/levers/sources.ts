import type { DeadLetters, Inbox } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import type { ObservableSender } from '@webhook-backpressure/observe';

/** Whose options can be changed. */
export interface Source {
  update(options: object): void;
  snapshot(): { readonly options: { readonly shed: readonly string[] } };
}

/** All sources of the page. */
export interface Sources {
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly inboxes: ReadonlyMap<string, Inbox>;
  readonly senders: ReadonlyMap<string, ObservableSender>;
}

/** A source with dead letters. */
export interface WithDeadLetters {
  readonly kind: 'inbox' | 'sender';
  readonly name: string;
  readonly deadLetters: DeadLetters;
}

/** The inbox or the sender that a request names; undefined if there is none. */
export function withDeadLetters(
  { inbox, sender }: { readonly inbox: unknown; readonly sender: unknown },
  { inboxes, senders }: Sources,
): WithDeadLetters | undefined {
  const kind = sender === undefined || sender === null ? 'inbox' : 'sender';
  const name = kind === 'inbox' ? inbox : sender;
  if (typeof name !== 'string') return undefined;
  const found = kind === 'inbox' ? inboxes.get(name) : senders.get(name);
  return found && { kind, name, deadLetters: found.deadLetters };
}
