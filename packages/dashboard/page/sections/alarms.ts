import { duration } from '../data/format.ts';
import { helpAddress } from '../data/address.ts';
import type { ActiveAlarm, AlarmCode } from '@webhook-backpressure/core';
import { snapshotOf } from '../data/wire.ts';
import { h, link, setText } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';

/** Names of alarms for people. */
const TITLES: Readonly<Record<AlarmCode, string>> = {
  WBP_ALARM_REFUSED: 'Many refusals',
  WBP_ALARM_GROWING: 'The queue keeps growing',
  WBP_ALARM_STALLED: 'Stalled',
  WBP_ALARM_LOSS_RISK: 'Deliveries may be lost',
  WBP_ALARM_ENDANGERED: 'An endpoint may be disabled',
  WBP_ALARM_OLDEST_AGE: 'The oldest delivery is late',
  WBP_ALARM_DEAD_LETTERS: 'More dead letters',
  WBP_ALARM_STORE_FAILING: 'The store fails',
};

const SEVERE: ReadonlySet<AlarmCode> = new Set<AlarmCode>([
  'WBP_ALARM_STALLED',
  'WBP_ALARM_LOSS_RISK',
  'WBP_ALARM_ENDANGERED',
  'WBP_ALARM_STORE_FAILING',
]);

/** The raised alarms, each with a link to what to do. */
export function alarmSection(): Section {
  const list = h('ul', { class: 'alarms', 'aria-label': 'Alarms' });
  const shown = new Map<string, { item: HTMLElement; message: HTMLElement; since: HTMLElement }>();
  return {
    element: list,
    update(source): void {
      const { alarms } = snapshotOf(source);
      list.hidden = alarms.length === 0;
      for (const [code, { item }] of shown) {
        if (alarms.some((alarm) => alarm.code === code)) continue;
        item.remove();
        shown.delete(code);
      }
      for (const alarm of alarms) {
        let parts = shown.get(alarm.code);
        if (parts === undefined) {
          parts = build(alarm);
          shown.set(alarm.code, parts);
          list.append(parts.item);
        }
        setText(parts.message, alarm.message);
        setText(parts.since, `for ${duration(alarm.sinceMs)}`);
      }
    },
  };
}

export function titleOf(code: AlarmCode): string {
  return TITLES[code];
}

function build({ code, help }: ActiveAlarm): { item: HTMLElement; message: HTMLElement; since: HTMLElement } {
  const message = h('span');
  const since = h('span', { class: 'note' });
  const item = h(
    'li',
    { class: SEVERE.has(code) ? 'alarm severe' : 'alarm' },
    h('span', { class: 'alarm-mark', 'aria-hidden': 'true' }, '!'),
    h('div', {}, h('strong', {}, titleOf(code)), ' ', since, h('p', {}, message)),
    link(helpAddress(help, code), 'What to do'),
  );
  return { item, message, since };
}
