import { showWarning } from '@webhook-backpressure/base';

/** The stable codes of the process warnings of an inbox. */
export type InboxWarningCode =
  | 'WBP_VERIFY_FAILED'
  | 'WBP_VERIFY_BROKEN'
  | 'WBP_PROCESS_FAILED'
  | 'WBP_UNMATCHED'
  | 'WBP_LIMITS_FAILED'
  | 'WBP_DELIVERY_DEAD'
  | 'WBP_STORE_FAILED';

/** The stable codes of the process warnings of a sender. */
export type OutboxWarningCode = 'WBP_EVENT_DEAD' | 'WBP_ENDPOINT_FAILED' | 'WBP_STORE_FAILED';

/** Reasons of a verifier are texts of this package, which name a header of a forged request at most. */
const MAX_KINDS = 30;

/** Shows a warning to the operator of the process. The code is an {@link InboxWarningCode}, a {@link OutboxWarningCode}, or one of the store. */
export type ShowWarning = (code: string, message: string) => void;

/**
 * Warns once of each kind of failure while an inbox or sender has no listener, because such a failure would go unnoticed
 * until the other side complains. The message of an error may hold a secret or what a sender sent, so a warning shows its class and
 * its place in the code instead.
 */
export class ProcessWarnings {
  readonly #hasListeners: () => boolean;
  readonly #show: ShowWarning;
  readonly #owner: 'inbox' | 'sender';
  readonly #given = new Set<string>();

  constructor(
    hasListeners: () => boolean,
    show: ShowWarning = showWarning,
    owner: 'inbox' | 'sender' = 'inbox',
  ) {
    this.#hasListeners = hasListeners;
    this.#show = show;
    this.#owner = owner;
  }

  /** Warnings of a sender. */
  static ofSender(hasListeners: () => boolean): ProcessWarnings {
    return new ProcessWarnings(hasListeners, showWarning, 'sender');
  }

  /** Of a failed call of the store, by its code: the message of another store may quote a delivery. */
  storeFailed(call: string, error: string): void {
    this.warn('WBP_STORE_FAILED', () => `The call ${call}() of the store failed${withCode(error)}.`);
  }

  /** @param kind - what is reported once, instead of the code. */
  warn(code: string, sentence: () => string, kind: string = code): void {
    if (this.#given.has(kind) || this.#given.size >= MAX_KINDS || this.#hasListeners()) return;
    this.#given.add(kind);
    try {
      this.#show(
        code,
        `${sentence()} This is reported once. To log every failure with its message: ` +
          `logEvents(${this.#owner}, console, { errors: true }) of @webhook-backpressure/observe.`,
      );
    } catch {
      // A warning must not harm a delivery.
    }
  }
}

/** The code in the message of an error, as the end of a sentence. */
export function withCode(error: string): string {
  const [code] = /ERR_WBP_[A-Z_]+/.exec(error) ?? [];
  return code === undefined ? '' : ` with ${code}`;
}

const WORD = /^[\w.]{1,64}$/;
const MAX_PLACE = 200;

/** Describes an error by its class, its code and where it was thrown. Never throws. */
export function classAndPlaceOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `a value of the type ${typeof error}`;
    const { name, code, stack } = error as { name?: unknown; code?: unknown; stack?: unknown };
    const what = isWord(name) ? name : 'an error';
    const how = isWord(code) ? ` (${code})` : '';
    // The message comes first, and its lines may look like a stack frame.
    const places = typeof stack === 'string' ? stack.slice(messageEnd(stack, error)) : '';
    const [place] = /^\s+at .+$/m.exec(places) ?? [];
    return `${what}${how}${place === undefined ? '' : ` ${place.trim().slice(0, MAX_PLACE)}`}`;
  } catch {
    return 'an error';
  }
}

function messageEnd(stack: string, { message }: { message: unknown }): number {
  if (typeof message !== 'string') return stack.length;
  const at = stack.indexOf(message);
  // If the message was changed later, the stack holds the old one, whose end is unknown.
  return at === -1 ? stack.length : at + message.length;
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && WORD.test(value);
}
