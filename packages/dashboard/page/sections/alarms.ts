import { duration } from '../data/format.ts';
import { helpAddress } from '../data/address.ts';
import type { ActiveAlarm, AlarmCode } from '@webhook-backpressure/core';
import { titleOf } from '../data/alarm-titles.ts';
import { snapshotOf } from '../data/wire.ts';
import { h, link, setText } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';

const SEVERE: ReadonlySet<AlarmCode> = new Set<AlarmCode>([
  'WBP_ALARM_STALLED',
  'WBP_ALARM_LOSS_RISK',
  'WBP_ALARM_ENDANGERED',
  'WBP_ALARM_STORE_FAILING',
  'WBP_ALARM_DISABLED',
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
