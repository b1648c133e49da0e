import { afterEach, describe } from 'vitest';
import { admission } from './cases/admission.ts';
import { callbacks } from './cases/callbacks.ts';
import { closing } from './cases/closing.ts';
import { departure } from './cases/departure.ts';
import { handlers } from './cases/handlers.ts';
import { paths } from './cases/paths.ts';
import { permits } from './cases/permits.ts';
import { refusal } from './cases/refusal.ts';
import { trouble } from './cases/trouble.ts';
import type { Driver } from './exchange.ts';
import { starter, stopAll } from './receiver.ts';

/** The behavior that all adapters share, tested over real sockets. */
export function conformance(driver: Driver): void {
  describe(driver.name, () => {
    const start = starter(driver);
    afterEach(stopAll);
    admission(start);
    refusal(start);
    callbacks(start);
    paths(start);
    permits(start, driver);
    handlers(start, driver);
    departure(start, driver);
    closing(start);
    trouble(start, driver);
  });
}
