import type { ActiveAlarm, AlarmCode } from '@webhook-backpressure/core';
import { readingsOfAlarms } from './alarm-readings.ts';
import {
  readingsByName,
  readingsOfState,
  type CounterRow,
  type GaugeRow,
  type Readable,
  type RowMaker,
} from './rows.ts';
import { STATES } from './states.ts';

interface CommonlyReadable extends Readable {
  readonly snapshot: {
    readonly state: string;
    readonly highWater: number;
    readonly lowWater: number;
    readonly drainRate: number | null;
    readonly booked: number;
    readonly endangered: readonly string[];
    readonly alarms: readonly ActiveAlarm[];
    readonly totals: {
      readonly lossRisk: number;
      readonly promises: { readonly kept: number; readonly missed: number };
    };
  };
}

const DELIVERIES = '{delivery}';

/** The rows from the marks to the alarms, which are the same in both tables except for how old the work is. */
export function gaugesOfLoad<R extends CommonlyReadable>(
  make: RowMaker<R>,
  unit: '{intake}' | '{inbox}',
  age: GaugeRow<R>,
  alarmCodes: readonly AlarmCode[],
): readonly GaugeRow<R>[] {
  return [
    make.gauge('high_water', DELIVERIES, 'The depth at which shedding begins', ({ highWater }) => highWater),
    make.gauge('low_water', DELIVERIES, 'The depth at which shedding ends', ({ lowWater }) => lowWater),
    make.gauge(
      'state',
      unit,
      '1 for the current state, and 0 for the others',
      ({ state }) => readingsOfState(STATES, state),
      { attributes: ['state'] },
    ),
    make.gauge(
      'drain_rate',
      '{delivery}/s',
      'Completions per second that the workers can sustain; no sample before the first completion',
      ({ drainRate }) => drainRate,
    ),
    age,
    make.gauge(
      'booked',
      DELIVERIES,
      'Refused deliveries with a booked time to retry that has not come yet',
      ({ booked }) => booked,
    ),
    make.gauge(
      'endangered',
      '{sender}',
      'Senders that are close to disabling the endpoint because of failures',
      ({ endangered }) => endangered.length,
    ),
    make.gauge(
      'alarm',
      '{alarm}',
      '1 for a raised alarm, and 0 for the others',
      ({ alarms }) => readingsOfAlarms(alarmCodes, alarms),
      { attributes: ['code'] },
    ),
  ];
}

/** @param accepted - what happens to a retry that is not refused. */
export function countersOfRefusals<R extends CommonlyReadable>(
  make: RowMaker<R>,
  accepted: 'admitted' | 'acknowledged',
): readonly CounterRow<R>[] {
  return [
    make.counter(
      'loss_risk',
      DELIVERIES,
      'Refused deliveries whose senders never retry',
      ({ lossRisk }) => lossRisk,
    ),
    make.counter(
      'promises',
      DELIVERIES,
      `Retries that arrived in their booked time: kept if ${accepted}, missed if refused again`,
      ({ promises: { kept, missed } }) => readingsByName('outcome', { kept, missed }),
      { attributes: ['outcome'] },
    ),
  ];
}
