import { thrownText } from '@webhook-backpressure/base';

interface Runtime {
  readonly process?: { emitWarning?: (message: string, options: { type: string; code: string }) => void };
  readonly console?: { warn?: (message: string) => void };
}

/** Passes errors to the user's function; without one, warns of the first. Never throws. */
export function errorReports(onError: ((error: unknown) => unknown) | undefined): (error: unknown) => void {
  let hasWarned = false;
  return (error) => {
    try {
      if (onError !== undefined) {
        onError(error);
        return;
      }
      if (hasWarned) return;
      hasWarned = true;
      warn(
        `The dashboard failed: ${thrownText(error)}. This is reported once; its option onError gets every error.`,
      );
    } catch {
      // A report must not harm a request.
    }
  };
}

function warn(message: string): void {
  const { process, console } = globalThis as Runtime;
  const code = 'WBP_DASHBOARD_FAILED';
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, { type: 'WebhookBackpressureWarning', code });
  } else {
    console?.warn?.(`${code}: ${message}`);
  }
}
