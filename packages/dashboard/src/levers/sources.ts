import type { Inbox, Intake } from '@webhook-backpressure/core';

/** Whose options can be changed. */
export interface Source {
  update(options: object): void;
  snapshot(): { readonly options: { readonly shed: readonly string[] } };
}

/** All intakes and inboxes of the page. */
export interface Sources {
  readonly intakes: ReadonlyMap<string, Intake>;
  readonly inboxes: ReadonlyMap<string, Inbox>;
}
