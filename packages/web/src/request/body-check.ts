import type { AdmissionControl } from '@webhook-backpressure/core/middleware';

/** The number of deliveries that are checked: on some servers the check creates the whole request. */
const CHECKED = 1000;

/** Creates a function that warns once of a delivery whose body was read before it was admitted. */
export function bodyCheck(control: AdmissionControl<Request>): (request: Request) => void {
  let checksLeft = CHECKED;
  return (request) => {
    if (checksLeft === 0) return;
    checksLeft -= 1;
    if (!request.bodyUsed) return;
    checksLeft = 0;
    control.warnOnce(
      'WBP_BODY_READ',
      'The body of a request was read before withBackpressure(), so queued deliveries hold their bodies in memory, and ' +
        'refused ones were read for nothing. Read the body in the handler.',
    );
  };
}
