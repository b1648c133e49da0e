import type { IntakeOptions } from '@webhook-backpressure/core';

/** More than there are connections: while requests pass, no limit is to bind. */
export const AMPLE = 1000;
export const AMPLE_INTAKE: IntakeOptions = { concurrency: AMPLE };
