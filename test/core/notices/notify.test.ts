import { createIntake } from '@webhook-backpressure/core';
import { type EventSource, type Notice, notify } from '@webhook-backpressure/observe';
import { describe, expect, it, vi } from 'vitest';
import { turns } from '../inbox/inbox-bench.ts';
import { alarm, dead, noticed } from './noticed.ts';

describe('notify', () => {
  it('counts dead letters for a minute, by sender, without their errors', async () => {
    const { notices, clock, report } = noticed();
    for (let at = 0; at < 10; at += 1) await report(dead('stripe'));
    await report(dead('github'));
    await report({ type: 'overflow', key: 'k', sender: undefined, id: '2' });
    clock.advance(59_999);
    await turns();
    expect(notices).toEqual([]);
    clock.advance(1);
    await turns();
    expect(notices).toEqual([
      {
        text: '12 deliveries became dead letters: stripe 10, github 1, unknown senders 1.',
        kind: 'inbox',
        name: null,
        alarms: [],
        deadLetters: {
          count: 12,
          most: [
            { name: 'stripe', count: 10 },
            { name: 'github', count: 1 },
            { name: null, count: 1 },
          ],
          errors: [],
        },
      },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('sends an alarm immediately, and what follows within a minute as one notice', async () => {
    const { notices, clock, report } = noticed({ name: 'orders' });
    await report(alarm());
    expect(notices.map((one) => one.text)).toEqual([
      'orders: Alarm WBP_ALARM_OLD: The oldest delivery is 9 min old. https://example.com/#old',
    ]);
    await report(alarm('alarm-cleared'));
    await report(alarm('alarm'));
    await report(alarm('alarm-cleared'));
    await report(dead('stripe'));
    expect(notices).toHaveLength(1);
    clock.advance(60_000);
    await turns();
    expect(notices[1]?.text).toBe(
      'orders: Alarm WBP_ALARM_OLD has ended. The oldest delivery is 9 min old. It changed 3 times.\n' +
        'orders: 1 delivery became a dead letter: stripe 1.',
    );
    expect(notices[1]?.alarms).toMatchObject([{ state: 'cleared', changes: 3 }]);
  });

  it('names the first errors if it is told to, and the endpoints of a sender', async () => {
    const { notices, report, end } = noticed({ errors: true }, 'sender');
    for (let at = 0; at < 2000; at += 1)
      await Promise.resolve(
        void report({ ...dead(undefined, `error ${String(at % 7)}`), endpoint: `e${String(at)}` }),
      );
    await end();
    expect(notices[0]?.deadLetters).toMatchObject({
      count: 2000,
      errors: ['error 0', 'error 1', 'error 2'],
    });
    expect(notices[0]?.text).toMatch(
      /^2000 events became dead letters: e0 1, e1 1, e2 1, e3 1, e4 1, others 1995\.\nerror 0\n/,
    );
  });

  it.each([
    [['alarms'], ['alarm']],
    [['dead-letters'], ['dead']],
  ] as const)('is about the given events only: %j', async (events, types) => {
    const { notices, report, end } = noticed({ events });
    await report(alarm());
    await report(dead('stripe'));
    await end();
    const found = notices.flatMap((one) => [
      ...one.alarms.map(() => 'alarm'),
      ...(one.deadLetters.count > 0 ? ['dead'] : []),
    ]);
    expect(found).toEqual(types);
  });

  it('sends one notice at a time, and the rest after it', async () => {
    let finish = (): void => undefined;
    const sent: Notice[] = [];
    const to = (notice: Notice): Promise<void> => {
      sent.push(notice);
      return new Promise((resolve) => (finish = resolve));
    };
    const { clock, report, end } = noticed({ to });
    await report(alarm());
    await report(alarm('alarm', 'WBP_ALARM_STORE'));
    clock.advance(200_000);
    await turns();
    expect(sent).toHaveLength(1);
    finish();
    await turns();
    expect(sent[1]?.alarms).toMatchObject([{ code: 'WBP_ALARM_STORE', state: 'raised' }]);
    finish();
    await end();
    expect(sent).toHaveLength(2);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('https://hooks.slack.com/secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('https://hooks.slack.com/secret'))],
  ] as const)('repeats what a receiver that %s has missed, and warns once', async (_, fail) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    let isBroken = true;
    const sent: Notice[] = [];
    const to = (notice: Notice): unknown => (isBroken ? fail() : sent.push(notice));
    const { clock, report } = noticed({ to });
    await report(alarm());
    await report(dead('stripe'));
    for (let minute = 0; minute < 3; minute += 1) {
      clock.advance(60_000);
      await turns();
    }
    expect(warn.mock.calls).toHaveLength(1);
    expect(JSON.stringify(warn.mock.calls)).not.toContain('secret');
    warn.mockRestore();
    isBroken = false;
    await report(dead('stripe'));
    clock.advance(60_000);
    await turns();
    expect(sent).toMatchObject([{ alarms: [{ state: 'raised', changes: 1 }], deadLetters: { count: 2 } }]);
  });

  it('sends the rest when the source closes, and when it is ended', async () => {
    const { notices, clock, report, end } = noticed();
    await report(dead('stripe'));
    await report({ type: 'closed', completed: 0, remaining: 0 });
    expect(notices).toHaveLength(1);
    await report(dead('github'));
    await end();
    expect(notices).toHaveLength(2);
    await report(dead('github'));
    await end();
    expect(notices).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it.each<[object, string]>([
    [{ to: undefined }, 'to must be a function'],
    [{ to: 'ftp://x/secret' }, 'to must be an http or https URL'],
    [{ to: 'https://user:secret@x/' }, 'to must be an http or https URL'],
    [{ to: { sender: {}, endpoint: 'a' } }, 'to.sender must be a sender'],
    [{ to: { sender: { send: () => 0 }, endpoint: '' } }, 'to.endpoint must be a string'],
    [{ to: { sendr: 1 } }, 'Did you mean "sender"'],
    [{ to: 'https://x', secret: 'secret' }, 'secret must be base64'],
    [{ to: () => 0, secret: 'secret' }, 'secret belongs to an address'],
    [{ to: 'https://hooks.slack.com/a', secret: 'secret' }, 'secret must be absent for Slack'],
    [{ events: [] }, 'events must be a list'],
    [{ events: ['alarm'] }, 'events must be a list'],
    [{ everyMs: 999 }, 'everyMs must be a number of milliseconds from 1,000 to 86,400,000'],
    [{ name: '' }, 'name must be a string'],
    [{ errors: 1 }, 'errors must be a boolean'],
    [{ evryMs: 1000 }, 'Did you mean "everyMs"'],
  ])('rejects %j without naming a secret', (options, sentence) => {
    let message = '';
    try {
      noticed(options);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain(sentence);
    expect(message).not.toMatch(/\bsecret@|\/secret|"secret"/);
  });

  it('requires a source', () => {
    const make = (source: unknown) => () => notify(source as EventSource, { to: () => undefined });
    expect(make({})).toThrow('ERR_WBP_NOTIFY');
    expect(make(createIntake())).not.toThrow();
  });
});
