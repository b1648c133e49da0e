import type { CurrentOptions } from '../delivery/current-options.ts';
import type { Settings } from './options.ts';

/** The settings as plain JSON data. It is frozen, so that every snapshot until the next update can share it. */
export function currentOptions(settings: Settings): CurrentOptions {
  const { concurrency, maxConcurrencyPerKey, drainRate } = settings;
  return Object.freeze({
    capacity: settings.capacity,
    highWaterMark: settings.highWaterMark,
    lowWaterMark: settings.lowWaterMark,
    concurrency: typeof concurrency === 'number' ? concurrency : Object.freeze({ ...concurrency }),
    maxConcurrencyPerKey: maxConcurrencyPerKey ?? null,
    drainRate: typeof drainRate === 'object' ? Object.freeze({ ...drainRate }) : (drainRate ?? null),
    maxWaitMs: settings.maxWaitMs,
    maxHandlingMs: settings.maxHandlingMs,
    overflow: settings.overflow,
    statusCode: settings.statusCode,
    retryAfter: Object.freeze({ ...settings.retryAfter }),
    shed: Object.freeze([...settings.shed]),
  });
}
