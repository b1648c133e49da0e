import { AsyncResource } from 'node:async_hooks';
import { thrownText } from '@webhook-backpressure/core';

/** How often failures that repeat are reported. */
const REPORT_MS = 60_000;
/** More kinds than that share one count: what a sender can put into an error must not grow this table. */
const MAX_KINDS = 20;
const OTHERS = 'others';

/** What shows a warning, and what calls back later without keeping the process alive. */
export interface Surroundings {
  warn(message: string, detail: string | undefined): void;
  after(ms: number, action: () => void): void;
}

/**
 * Warns of failures: the first of each kind is shown whole, later ones are counted, and the counts reported at most
 * once a minute. A sender can repeat a failure at will, by breaking off uploads, and must not fill the log.
 */
export class FailureWarnings {
  readonly #around: Surroundings;
  /** How many of each kind have not been reported. */
  readonly #unreported = new Map<string, number>();
  #isReportDue = false;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** @param what - what failed, for the first warning of a kind. The kind is that of the error alone. */
  note(what: string, error: unknown): void {
    const name = kindOf(error);
    const isKept = this.#unreported.has(name) || this.#unreported.size < MAX_KINDS;
    const kind = isKept ? name : OTHERS;
    const count = this.#unreported.get(kind);
    if (count === undefined) {
      this.#unreported.set(kind, 0);
      this.#around.warn(`${what}: ${thrownText(error)}`, stackOf(error));
      return;
    }
    this.#unreported.set(kind, count + 1);
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    this.#around.after(REPORT_MS, this.#report);
  }

  readonly #report = (): void => {
    this.#isReportDue = false;
    const lines: string[] = [];
    for (const [kind, count] of this.#unreported) {
      if (count === 0) continue;
      lines.push(`${String(count)} more of ${kind}`);
      this.#unreported.set(kind, 0);
    }
    this.#around.warn(`Failures since the last report: ${lines.join(', ')}`, undefined);
  };
}

/** The process's own warnings. `code` names them. */
export function processWarnings(code: string): FailureWarnings {
  return new FailureWarnings({
    warn(message, detail) {
      process.emitWarning(message, {
        type: 'WebhookBackpressureWarning',
        code,
        ...(detail === undefined ? {} : { detail }),
      });
    },
    // A timer keeps the async context in which it was set, and with it all that a request has put there.
    after: AsyncResource.bind((ms, action) => {
      setTimeout(action, ms).unref();
    }),
  });
}

/** The class or the code of an error. Its message may hold what a sender sent, and be new each time. */
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
