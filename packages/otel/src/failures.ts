import { diag } from '@opentelemetry/api';

/**
 * Runs calls of a meter or tracer. What they throw is passed to OpenTelemetry's own log, the first time of each kind, and
 * harms neither deliveries nor other exporters.
 */
export class Failures {
  readonly #reported = new Set<string>();

  /** @returns what the action returns, or undefined if it throws. */
  run<T>(what: string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.report(what, error);
      return undefined;
    }
  }

  /** Reports what something threw, for callers on the path of each delivery, which pass no function to `run`. */
  report(what: string, error: unknown): void {
    if (this.#reported.has(what)) return;
    this.#reported.add(what);
    try {
      diag.error(`@webhook-backpressure/otel: ${what} threw. This is reported once.`, error);
    } catch {
      // A logger that fails must not harm a delivery either.
    }
  }
}
