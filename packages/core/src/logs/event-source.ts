import { invalid } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import type { Inbox } from '../inbox/inbox.ts';

/** What logs are made of. */
export type EventSource = Intake | Inbox;

/** The name of the field that names the source, and what messages call it. */
export type SourceKind = 'intake' | 'inbox';

/** @throws BackpressureError `ERR_WBP_LOG_EVENTS` if something is neither an intake nor an inbox. */
export function kindOf(source: unknown): SourceKind {
  const methods = source as Partial<Record<'admit' | 'receive' | 'subscribe', unknown>> | null | undefined;
  if (typeof methods?.subscribe === 'function') {
    if (typeof methods.admit === 'function') return 'intake';
    if (typeof methods.receive === 'function') return 'inbox';
  }
  const rule = 'an intake or an inbox, such as the .intake of a middleware';
  throw invalid('ERR_WBP_LOG_EVENTS', 'source', rule, source);
}
