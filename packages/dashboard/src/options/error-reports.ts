import { showWarning, thrownText } from '@webhook-backpressure/base';

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
      showWarning(
        'WBP_DASHBOARD_FAILED',
        `The dashboard failed: ${thrownText(error)}. This is reported once; its option onError gets every error.`,
      );
    } catch {
      // A report must not harm a request.
    }
  };
}
