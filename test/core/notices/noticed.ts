import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { type EventSource, type Notice, notify, type NotifyOptions } from '@webhook-backpressure/observe';
import { turns } from '../inbox/inbox-bench.ts';

export type Reported = Readonly<Record<string, unknown>> & { readonly type: string };

/** A source that reports what the test says, and the notices about it. */
export function noticed(
  options: Partial<NotifyOptions> = {},
  kind: 'inbox' | 'sender' = 'inbox',
): {
  readonly notices: Notice[];
  readonly clock: ManualClock;
  readonly report: (event: Reported) => Promise<void>;
  readonly end: () => Promise<void>;
} {
  const clock = manualClock();
  const notices: Notice[] = [];
  let listener: (event: Reported) => void = () => undefined;
  const source = {
    ...(kind === 'inbox' ? { receive: () => undefined } : { endpoints: {} }),
    subscribe(given: typeof listener) {
      listener = given;
      return () => {
        listener = () => undefined;
      };
    },
  } as unknown as EventSource;
  const end = notify(source, { to: (notice) => notices.push(notice), clock, ...options });
  return {
    notices,
    clock,
    end,
    report: async (event) => {
      listener(event);
      await turns();
    },
  };
}

export const dead = (sender?: string, error = 'secret'): Reported => ({
  type: 'dead',
  key: 'k',
  sender,
  id: '1',
  error,
});
export const alarm = (type: 'alarm' | 'alarm-cleared' = 'alarm', code = 'WBP_ALARM_OLD'): Reported => ({
  type,
  code,
  value: 1,
  threshold: 1,
  message: 'The oldest delivery is 9 min old.',
  help: 'https://example.com/#old',
});
