import type { SenderEvent } from '../outbox/sender-events.ts';
import type { SumRule } from './sums.ts';

/** The events of a sender that are only counted: there can be as many as there are attempts or endpoints. */
type SummedType = Extract<
  SenderEvent['type'],
  | ('conflict' | 'limited' | 'failed' | 'dead' | 'split' | 'lost' | 'discarded')
  | ('waiting' | 'slowed' | 'restored')
>;

export const SENDER_SUMS: Readonly<Record<SummedType, SumRule>> = {
  conflict: { level: 'warn', text: 'Known ids with another body' },
  limited: {
    level: 'warn',
    text: 'Attempts after which the endpoint asked to wait',
    counted: ['status'],
    largest: ['retryInMs', 'maxRetryInMs'],
  },
  failed: {
    level: 'warn',
    text: 'Failed attempts that will be retried',
    counted: ['status'],
    largest: ['retryInMs', 'maxRetryInMs'],
  },
  dead: { level: 'error', text: 'Events moved to the dead-letter queue', counted: ['status'] },
  split: { level: 'warn', text: 'Refused batches split into halves', counted: ['status'] },
  lost: { level: 'warn', text: 'Claims taken over by another process' },
  discarded: { level: 'warn', text: 'Old dead letters deleted' },
  waiting: {
    level: 'info',
    text: 'Pauses that endpoints asked for',
    counted: ['because'],
    largest: ['forMs', 'maxForMs'],
  },
  slowed: { level: 'info', text: 'Endpoints slowed down after a refusal' },
  restored: { level: 'info', text: 'Endpoints back at their set limits' },
};
