import type { AlarmCode } from './alarm.ts';
import type { SenderAlarmSettings } from './alarm-options.ts';
import { counted, duration, percent } from './alarm-text.ts';

/** The figures by which the alarms of one endpoint are judged. They are those of the last five minutes. */
export interface EndpointReading {
  readonly attempts: number;
  readonly limited: number;
  readonly queued: number;
  /** The mean time from `send` to the delivery; null without deliveries. */
  readonly meanLatencyMs: number | null;
}

/** When an alarm about one endpoint is raised. It is cleared at half of the threshold. */
export interface EndpointAlarmRule {
  readonly code: AlarmCode;
  /** The option that holds the threshold, which the value must exceed. */
  readonly option: 'limitedRatio' | 'queued' | 'meanLatencyMs';
  readonly value: (reading: EndpointReading) => number;
  readonly mayRaise?: (reading: EndpointReading, settings: SenderAlarmSettings) => boolean;
  readonly message: (value: number, reading: EndpointReading) => string;
}

/** The alarms that each endpoint of a sender has. */
export const ENDPOINT_ALARM_RULES: readonly EndpointAlarmRule[] = [
  {
    code: 'WBP_ALARM_LIMITED',
    option: 'limitedRatio',
    value: ({ attempts, limited }) => (attempts === 0 ? 0 : Math.min(1, limited / attempts)),
    mayRaise: ({ attempts }, { minAttempts }) => attempts >= minAttempts,
    message: (value, { attempts }) =>
      `The endpoint asked to wait after ${percent(value)} of the ${counted(attempts, 'attempt')} of the last five minutes.`,
  },
  {
    code: 'WBP_ALARM_QUEUED',
    option: 'queued',
    value: ({ queued }) => queued,
    message: (value) => `The endpoint has ${counted(value, 'queued event')}.`,
  },
  {
    code: 'WBP_ALARM_LATENCY',
    option: 'meanLatencyMs',
    value: ({ meanLatencyMs }) => Math.round(meanLatencyMs ?? 0),
    message: (value) =>
      value === 0
        ? 'Nothing was delivered to the endpoint in the last five minutes.'
        : `In the last five minutes the mean time to deliver an event to the endpoint was ${duration(value)}.`,
  },
];
