import type { RequestListener } from 'node:http';
import type { IntakeOptions } from '@webhook-backpressure/core';
import { Saturated, SATURATED } from '../core/saturated.ts';

/** What answers the requests, and where it is not a listener for node:http, how it begins to listen. */
export type Variant = () => RequestListener | Promise<{ port: number }>;

export const MINUTE_MS = 60_000;
/** A rate that no load reaches, for limiters that have to be given one. */
export const AMPLE_RATE = 1_000_000_000;

/** What a refusal says when it is written by hand: as long as ours. */
export const PROBLEM = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Quota Exceeded',
  status: 429,
  detail: 'The receiver has as many queued deliveries as it can handle in time.',
  reason: 'shedding',
  retryAfterSeconds: 10,
};

/** Options for a middleware that refuses everything, being full. */
export const REFUSING: IntakeOptions = SATURATED;

const COMPLETION_MS = 10;

/** Keeps the intake of a middleware shedding, with a hundred completions a second. */
export function keepFull<M extends { intake: ConstructorParameters<typeof Saturated>[0] }>(middleware: M): M {
  const saturated = new Saturated(middleware.intake);
  void saturated.complete().then(() => saturated.complete());
  setInterval(() => void saturated.complete(), COMPLETION_MS);
  return middleware;
}
