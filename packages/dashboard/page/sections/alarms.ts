import { plural } from '../data/format.ts';
import { helpAddress } from '../data/address.ts';
import type { AlarmCode } from '@webhook-backpressure/core';
import type { ActiveAlarm } from '@webhook-backpressure/observe';
import type { ActiveOutboxAlarm } from '@webhook-backpressure/observe';
import { timeOf, titleOf } from '../data/alarm-titles.ts';
import { factsOf, type AnySource } from '../data/wire.ts';
import { h, link, setText } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';

const SEVERE: ReadonlySet<AlarmCode> = new Set<AlarmCode>([
  'WBP_ALARM_STALLED',
  'WBP_ALARM_LOSS_RISK',
  'WBP_ALARM_ENDANGERED',
  'WBP_ALARM_STORE_FAILING',
  'WBP_ALARM_DISABLED',
]);

/** A hundred endpoints can have the same alarm. */
const MAX_SHOWN = 12;

type Alarm = ActiveAlarm | ActiveOutboxAlarm;

/** The raised alarms, each with a link to what to do. */
export function alarmSection(): Section<AnySource> {
  const more = h('li', { class: 'note' });
  const list = h('ul', { class: 'alarms', 'aria-label': 'Alarms' });
  const shown = new Map<string, { item: HTMLElement; message: HTMLElement; since: HTMLElement }>();
  return {
    element: list,
    update(source): void {
      const { alarms: all } = factsOf(source);
      const alarms = new Map(all.slice(0, MAX_SHOWN).map((alarm) => [idOf(alarm), alarm]));
      list.hidden = all.length === 0;
      for (const [id, { item }] of shown) {
        if (alarms.has(id)) continue;
        item.remove();
        shown.delete(id);
      }
      for (const [id, alarm] of alarms) {
        let parts = shown.get(id);
        if (parts === undefined) {
          parts = build(alarm);
          shown.set(id, parts);
          list.append(parts.item);
        }
        setText(parts.message, alarm.message);
        setText(parts.since, timeOf(alarm.code, alarm.sinceMs));
      }
      more.remove();
      setText(more, `${plural(all.length - alarms.size, 'more alarm', 'more alarms')}.`);
      if (all.length > alarms.size) list.append(more);
    },
  };
}

function endpointOf(alarm: Alarm): string | undefined {
  return 'endpoint' in alarm ? alarm.endpoint : undefined;
}

function idOf(alarm: Alarm): string {
  return `${alarm.code} ${endpointOf(alarm) ?? ''}`;
}

function build(alarm: Alarm): { item: HTMLElement; message: HTMLElement; since: HTMLElement } {
  const { code, help } = alarm;
  const endpoint = endpointOf(alarm);
  const message = h('span');
  const since = h('span', { class: 'note' });
  const item = h(
    'li',
    { class: SEVERE.has(code) ? 'alarm severe' : 'alarm' },
    h('span', { class: 'alarm-mark', 'aria-hidden': 'true' }, '!'),
    h(
      'div',
      {},
      h('strong', {}, titleOf(code)),
      endpoint === undefined ? null : ` at ${endpoint}`,
      ' ',
      since,
      h('p', {}, message),
    ),
    link(helpAddress(help, code), 'What to do'),
  );
  return { item, message, since };
}
