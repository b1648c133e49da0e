import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { EventOf, Line } from './line.ts';

type StoreLineType = 'store-failed' | 'store-recovered' | 'store-warning';

/** The lines about a store, which an inbox and a sender have. */
export const STORE_LINES: { readonly [T in StoreLineType]: Line<EventOf<T, InboxEvent>> } = {
  'store-failed': {
    level: 'error',
    fields: ['call'],
    message: ({ call, error }) => {
      const [code] = /ERR_WBP_[A-Z_]+/.exec(error) ?? [];
      return `The call ${call}() of the store failed${code === undefined ? '' : ` with ${code}`}.`;
    },
    variant: ({ call }) => call,
  },
  'store-recovered': {
    level: 'info',
    fields: [],
    message: () => 'The store works again.',
  },
  'store-warning': {
    level: 'warn',
    fields: ['code'],
    message: ({ message }) => message,
    variant: ({ code }) => code,
  },
};
