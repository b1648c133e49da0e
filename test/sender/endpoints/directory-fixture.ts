import { monotonic } from '@webhook-backpressure/base';
import { Scheduler } from '@webhook-backpressure/inbox/store';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { EndpointDirectory } from '../../../packages/sender/src/endpoints/directory.ts';
import { checkEndpoint } from '../../../packages/sender/src/options/endpoint-settings.ts';
import { checkLimits } from '../../../packages/sender/src/options/rates.ts';
import type { EndpointSettings } from '../../../packages/sender/src/options/endpoint-settings.ts';

const RULES = { defaults: checkLimits(), allowPrivateAddresses: false };
export const TTL_MS = 10_000;
export const GOOD = { url: 'https://example.com/', secret: null };

/** Resolves after all promise reactions that are possible now. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const checked = (value: unknown): EndpointSettings | null => checkEndpoint(value, RULES);

export interface Call {
  readonly id: string;
  readonly answer: (value: unknown) => Promise<void>;
  readonly fail: (thrown: unknown) => Promise<void>;
}

/** A directory, and what a test sees of it. */
export interface DirectoryFixture {
  readonly clock: ManualClock;
  readonly directory: EndpointDirectory;
  readonly calls: readonly Call[];
  readonly changed: string[];
  readonly failures: { readonly id: string; readonly error: string; readonly isKept: boolean }[];
  readonly urlOf: (id: string) => string | null | undefined;
  /** The latest call of the function. */
  readonly last: () => Call;
}

/** A directory whose function answers when the test says so, or immediately what `sync` returns. */
export function directoryOf(sync?: (id: string) => unknown, ttlMs: number = TTL_MS): DirectoryFixture {
  const clock = manualClock();
  const scheduler = new Scheduler(clock, monotonic(clock));
  const calls: Call[] = [];
  const changed: string[] = [];
  const failures: { id: string; error: string; isKept: boolean }[] = [];
  const directory = new EndpointDirectory({
    ask: (id) => {
      if (sync !== undefined) {
        const given = sync(id);
        return given instanceof Promise ? given.then(checked) : checked(given);
      }
      return new Promise((resolve, reject) => {
        calls.push({
          id,
          answer: async (value) => {
            resolve(value);
            await settled();
          },
          fail: async (thrown) => {
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- of any kind
            reject(thrown);
            await settled();
          },
        });
      }).then(checked);
    },
    ttlMs,
    scheduler,
    random: () => 0.5,
    changed: (id) => changed.push(id),
    failed: (id, error, isKept) => failures.push({ id, error, isKept }),
  });
  const urlOf = (id: string): string | null | undefined => {
    const settings: EndpointSettings | null | undefined = directory.get(id);
    return settings === null ? null : settings?.url.pathname;
  };
  const last = (): Call => {
    const call = calls.at(-1);
    if (call === undefined) throw new Error('The function was not called.');
    return call;
  };
  return { clock, directory, calls, changed, failures, urlOf, last };
}
