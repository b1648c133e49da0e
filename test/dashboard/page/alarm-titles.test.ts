import { expect, it } from 'vitest';
import { timeOf } from '../../../packages/dashboard/page/data/alarm-titles.ts';
import { ALARM_RULES, ENDPOINT_ALARM_RULES } from '../../../packages/observe/src/alarms/alarm-rules.ts';

it('says "last 5 minutes" of the alarms that are about them, since the state beside them is that of now', () => {
  const reading = { arrivals: 9, refused: 2, depth: 1, grownFrom: 0, attempts: 9 };
  const messages = [...ALARM_RULES, ...ENDPOINT_ALARM_RULES].map(({ code, message }) => ({
    code,
    text: message(1, reading as never),
  }));
  expect(messages.filter(({ text }) => text.includes('five minutes'))).toHaveLength(6);
  for (const { code, text } of messages) {
    const when = text.includes('five minutes') ? 'last 5 minutes' : 'now';
    expect(timeOf(code, 61_000)).toBe(`${when}, raised 1 min 1 s ago`);
  }
});
