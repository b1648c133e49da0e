export { BackpressureError, type Clock } from '@webhook-backpressure/base';
export type { ReconcileEvent, ReconcileListener, ReconcileResult } from './events.ts';
export { github, type GitHubOptions } from './github.ts';
export type { ReconcileOptions } from './options.ts';
export { reconcile, type Reconciler } from './reconcile.ts';
export type { Credential, EventContent, FoundEvent, Source, SourceTools } from './source.ts';
export { stripe, type StripeOptions } from './stripe.ts';
