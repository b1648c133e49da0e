import { AsyncResource } from 'node:async_hooks';
import { thrownText } from '@webhook-backpressure/base';

/** How often repeated failures are reported. */
const REPORT_MS = 60_000;
/** Further kinds share one count: a sender that can influence an error must not grow this table. */
const MAX_KINDS = 20;
const OTHERS = 'others';

/** Shows warnings, and calls back later without keeping the process alive. */
export interface WarningHost {
  warn(message: string, detail: string | undefined): void;
  after(ms: number, action: () => void): void;
}

/**
 * Warns of failures. The first failure of each kind is shown in full; later ones are counted and reported at most once a
 * minute. A sender can cause failures at any rate, by aborting uploads, and must not flood the log.
 */
export class FailureWarnings {
  readonly #host: WarningHost;
  /** Unreported failures by kind. */
  readonly #unreported = new Map<string, number>();
  #isReportDue = false;

  constructor(host: WarningHost) {
    this.#host = host;
  }

  /** @param what - what failed, for the first warning of a kind. The kind depends on the error only. */
  note(what: string, error: unknown): void {
    const name = kindOf(error);
    const isKept = this.#unreported.has(name) || this.#unreported.size < MAX_KINDS;
    const kind = isKept ? name : OTHERS;
    const count = this.#unreported.get(kind);
    if (count === undefined) {
      this.#unreported.set(kind, 0);
      this.#host.warn(`${what}: ${thrownText(error)}`, stackOf(error));
      return;
    }
    this.#unreported.set(kind, count + 1);
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    this.#host.after(REPORT_MS, this.#report);
  }

  readonly #report = (): void => {
    this.#isReportDue = false;
    const lines: string[] = [];
    for (const [kind, count] of this.#unreported) {
      if (count === 0) continue;
      lines.push(`${String(count)} more ${kind}`);
      this.#unreported.set(kind, 0);
    }
    this.#host.warn(`Failures since the last report: ${lines.join(', ')}`, undefined);
  };
}

/** Process warnings with this `code`. */
export function processWarnings(code: string): FailureWarnings {
  return new FailureWarnings({
    warn(message, detail) {
      process.emitWarning(message, {
        type: 'WebhookBackpressureWarning',
        code,
        ...(detail === undefined ? {} : { detail }),
      });
    },
    // A timer retains the async context in which it was set, and everything that a request stored there.
    after: AsyncResource.bind((ms, action) => {
      setTimeout(action, ms).unref();
    }),
  });
}

/** The code or the class of an error. Its message may contain request data and differ each time. */
function kindOf(error: unknown): string {
  try {
    const { code, name } = error as { code?: unknown; name?: unknown };
    if (typeof code === 'string') return code;
    return typeof name === 'string' ? name : typeof error;
  } catch {
    return typeof error;
  }
}

function stackOf(error: unknown): string | undefined {
  try {
    const stack = error instanceof Error ? (error.stack as unknown) : undefined;
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}
