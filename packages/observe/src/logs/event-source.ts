import { invalid } from '@webhook-backpressure/base';
import type { Intake } from '@webhook-backpressure/core';
import type { Inbox } from '@webhook-backpressure/inbox';
import type { ObservableSender } from '../outbox/sender.ts';

/** What logs are made of. */
export type EventSource = Intake | Inbox | ObservableSender;

/** The name of the field that names the source, and what messages call it. */
export type SourceKind = 'intake' | 'inbox' | 'sender';

/** @throws BackpressureError `ERR_WBP_LOG_EVENTS` if something is neither an intake nor an inbox nor a sender. */
export function kindOf(source: unknown): SourceKind {
  const given = source as
    Partial<Record<'admit' | 'receive' | 'endpoints' | 'subscribe', unknown>> | null | undefined;
  if (typeof given?.subscribe === 'function') {
    if (typeof given.admit === 'function') return 'intake';
    if (typeof given.receive === 'function') return 'inbox';
    if (typeof given.endpoints === 'object' && given.endpoints !== null) return 'sender';
  }
  const rule = 'an intake, such as the .intake of a middleware, an inbox or a sender';
  throw invalid('ERR_WBP_LOG_EVENTS', 'source', rule, source);
}
