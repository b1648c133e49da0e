/** The stable codes of the process warnings of an inbox. */
export type InboxWarningCode =
  'WBP_VERIFY_BROKEN' | 'WBP_PROCESS_FAILED' | 'WBP_DELIVERY_DEAD' | 'WBP_STORE_FAILED';

/** What looks like a mistake in `verify` itself: what it threw, or why what it returned is no answer. */
export type Flaw = { readonly thrown: unknown } | { readonly advice: string };

/** Shows a warning where the operator of the process looks. */
export type ShowWarning = (code: InboxWarningCode, message: string) => void;

interface Runtime {
  readonly process?: { emitWarning?: (message: string, options: { type: string; code: string }) => void };
  readonly console?: { warn?: (message: string) => void };
}

/** As a process warning on Node, Bun and Deno, and elsewhere on the console. */
const showInRuntime: ShowWarning = (code, message) => {
  const { process, console } = globalThis as Runtime;
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  } else {
    console?.warn?.(`${code}: ${message}`);
  }
};

/**
 * Warns of the first failure of each kind while nobody listens to the inbox, since a failure that nobody hears of goes on
 * until senders complain. What a sender sent, or a secret, may be in the message of an error: a warning shows its class
 * and its place in the code, and never its message.
 */
export class Unheard {
  readonly #isHeard: () => boolean;
  readonly #show: ShowWarning;
  readonly #given = new Set<InboxWarningCode>();

  constructor(isHeard: () => boolean, show: ShowWarning = showInRuntime) {
    this.#isHeard = isHeard;
    this.#show = show;
  }

  warn(code: InboxWarningCode, sentence: () => string): void {
    if (this.#given.has(code) || this.#isHeard()) return;
    this.#given.add(code);
    try {
      this.#show(code, `${sentence()} This is said once; inbox.subscribe tells of each one.`);
    } catch {
      // A warning must not harm a delivery.
    }
  }
}

const WORD = /^[\w.]{1,64}$/;
const MAX_PLACE = 200;

/** The class of an error, its code, and where it was thrown. Never throws. */
export function whatAndWhere(error: unknown): string {
  try {
    if (!(error instanceof Error)) return `a value of the type ${typeof error}`;
    const { name, code, stack } = error as { name?: unknown; code?: unknown; stack?: unknown };
    const what = isWord(name) ? name : 'an error';
    const how = isWord(code) ? ` (${code})` : '';
    // After the message, which may have lines as well, and some of them may look like a place.
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
  // Where the message was changed later, the stack still has the old one, and nothing tells where it ends.
  return at === -1 ? stack.length : at + message.length;
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && WORD.test(value);
}
