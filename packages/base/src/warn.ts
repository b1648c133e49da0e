import { thrownText } from './thrown.ts';

interface Runtime {
  readonly process?: { emitWarning?: (message: string, options: { type: string; code: string }) => void };
  readonly console?: { warn?: (message: string) => void };
}

/** Shows a warning to the operator: a process warning on Node, Bun and Deno, a line of the console elsewhere. */
export function showWarning(code: string, message: string): void {
  const { process, console } = globalThis as Runtime;
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  } else {
    console?.warn?.(`${code}: ${message}`);
  }
}

/**
 * Lets a promise go on that no code awaits. What it waits for handles its failures, so a rejection is a bug of this library:
 * a warning, because an unhandled rejection ends the process.
 */
export function inBackground(promise: PromiseLike<unknown>): void {
  promise.then(undefined, (error: unknown) => {
    showWarning('WBP_BUG', `A bug of webhook-backpressure, please report it: ${thrownText(error)}`);
  });
}
