/** The scope of all published packages but one. */
export const SCOPE = '@webhook-backpressure';

/** The other, which `npm create webhook-backpressure` runs. */
export const UNSCOPED = 'create-webhook-backpressure';
