/** The scope of all published packages. */
export const SCOPE = '@webhook-backpressure';
