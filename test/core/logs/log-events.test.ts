import { describe, expect, it, vi } from 'vitest';
import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { createIntake } from '@webhook-backpressure/core';
import { logEvents } from '@webhook-backpressure/observe';
import { createBench, occupy, reactions } from '../harness.ts';
import { loggedSource, recordingLogger } from './recording-logger.ts';

const REFUSED = {
  type: 'refused',
  reason: 'full',
  status: 503,
  retryAfterSeconds: 9,
  lossRisk: false,
} as const;

describe('logEvents', () => {
  it('logs a change of state immediately, with a level and fields', () => {
    const { lines, report } = loggedSource('intake', { name: 'orders' });
    report({ type: 'shedding', depth: 80 });
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { event: 'shedding', intake: 'orders', depth: 80 },
        message: 'The intake has begun to shed, at a depth of 80.',
      },
    ]);
  });

  it('logs refusals once a second, with counts by reason and status and the first keys', () => {
    const { lines, clock, report } = loggedSource('intake', { keys: 1 });
    for (let i = 0; i < 100; i += 1) {
      report({ ...REFUSED, key: i % 4 === 0 ? 'other' : 'flood', retryAfterSeconds: i });
    }
    report({ ...REFUSED, key: 'third', reason: 'shedding', status: 429, lossRisk: true });
    expect(lines).toEqual([]);
    clock.advance(1000);
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: {
          event: 'refused',
          seconds: 1,
          count: 101,
          reason: { full: 100, shedding: 1 },
          status: { 429: 1, 503: 100 },
          maxRetryAfterSeconds: 99,
          lossRisk: 1,
          keys: [{ key: 'flood', count: 75 }],
          otherKeys: 26,
        },
        message: 'Deliveries refused in 1 s: 101 (100 full, 1 shedding).',
      },
    ]);
  });

  it('sets no timer while there is nothing to add up', () => {
    const { clock, report } = loggedSource('intake');
    report({ type: 'shedding', depth: 80 });
    report({ type: 'started', key: 'a', waitedMs: 1 });
    expect(clock.pending).toBe(0);
    report({ ...REFUSED, key: 'a' });
    expect(clock.pending).toBe(1);
    clock.advance(1000);
    expect(clock.pending).toBe(0);
  });

  it('logs two lines a second of a state that changes hundreds of times, the last state last', () => {
    const { lines, clock, report } = loggedSource('intake');
    for (let i = 0; i < 300; i += 1) {
      report({ type: 'shedding', depth: 1 });
      report({ type: 'accepting', depth: i });
    }
    expect(lines.map(({ fields }) => fields.event)).toEqual(['shedding', 'accepting']);
    clock.advance(1000);
    expect(lines.slice(2).map(({ fields }) => fields)).toEqual([
      { event: 'shedding', depth: 1, repeated: 299 },
      { event: 'accepting', depth: 299, repeated: 299 },
    ]);
  });

  it.each([
    ['shedding', 'accepting'],
    ['stalled', 'recovered'],
    ['alarm', 'alarm-cleared'],
    ['outage', 'restored'],
    ['paused', 'resumed'],
    ['store-failed', 'store-recovered'],
  ] as const)('logs the end of %s after a line about it that was held', (begin, end) => {
    const { lines, clock, report } = loggedSource('inbox');
    const facts = { depth: 1, bytes: 1, gapMs: 1, code: 'A', message: '', key: 'a', call: 'put', error: '' };
    for (const [type, ms] of [
      [begin, 100],
      [end, 800],
      // Less than a second after its first line, so it is held. The next one is not.
      [begin, 300],
      [end, 1000],
    ] as const) {
      report({ type, ...facts });
      clock.advance(ms);
    }
    expect(lines.map(({ fields }) => fields.event)).toEqual([begin, end, begin, end]);
  });

  it('keeps lines about different senders, codes and options apart', () => {
    const { lines, report } = loggedSource('intake');
    report({ type: 'endangered', sender: 'stripe' });
    report({ type: 'endangered', sender: 'shopify' });
    report({ type: 'updated', options: ['capacity'] });
    report({ type: 'updated', options: ['shed'] });
    expect(lines).toHaveLength(4);
  });

  it('logs what it has added up before it logs the end', () => {
    const { lines, report } = loggedSource('intake');
    report({ type: 'withdrawn', key: 'a', cause: 'closing', waitedMs: 12.4 });
    report({ type: 'closed', completed: 1, refused: 1, remaining: 0 });
    expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
      [
        'warn',
        {
          event: 'withdrawn',
          seconds: 0,
          count: 1,
          cause: { closing: 1 },
          maxWaitedMs: 12,
          keys: [{ key: 'a', count: 1 }],
          otherKeys: 0,
        },
      ],
      ['info', { event: 'closed', completed: 1, refused: 1, remaining: 0 }],
    ]);
  });

  it('logs what it has added up when it is ended, and nothing afterwards', () => {
    const { lines, clock, report, end } = loggedSource('intake');
    report({ ...REFUSED, key: 'a' });
    end();
    expect(lines).toHaveLength(1);
    expect(clock.pending).toBe(0);
    report({ type: 'shedding', depth: 1 });
    expect(lines).toHaveLength(1);
  });

  it('contains no ids, no messages of errors, and no long keys', () => {
    const { lines, clock, report } = loggedSource('inbox');
    const secret = { id: 'evt_secret', error: 'password hunter2' };
    const key = 'k'.repeat(256);
    report({ type: 'failed', key, attempt: 1, retryInMs: 5, isCounted: true, ...secret });
    report({ type: 'dead', key, attempt: 9, ...secret });
    report({ type: 'unverified', key, error: secret.error });
    report({ type: 'overdue', key, id: secret.id, attempt: 2 });
    report({ type: 'outage', key, error: secret.error, isCounting: false });
    report({ type: 'store-failed', call: 'put', error: 'hunter2 (ERR_WBP_SQLITE_WRITE, see x)' });
    clock.advance(1000);
    expect(lines.map(({ fields }) => fields.event).sort()).toEqual(
      ['dead', 'failed', 'outage', 'overdue', 'store-failed', 'unverified'].sort(),
    );
    const text = JSON.stringify(lines);
    expect(text).not.toMatch(/evt_secret|hunter2|k{65}/);
    expect(text).toContain('The call put() of the store failed with ERR_WBP_SQLITE_WRITE.');
  });

  it('contains the first messages of errors on request', () => {
    const { lines, clock, report } = loggedSource('inbox', { errors: true });
    report({ type: 'outage', key: null, error: 'ECONNREFUSED', isCounting: false });
    for (let i = 0; i < 20; i += 1) {
      report({
        type: 'failed',
        key: 'a',
        id: 'evt',
        attempt: 1,
        error: `${String(i >> 1)}${'x'.repeat(999)}`,
      });
    }
    clock.advance(1000);
    expect(lines[0]?.fields).toEqual({
      event: 'outage',
      key: null,
      isCounting: false,
      error: 'ECONNREFUSED',
    });
    expect(lines[1]?.fields['errors']).toEqual(['0', '1', '2'].map((one) => `${one}${'x'.repeat(299)}…`));
  });

  it('logs an alarm with its threshold and the page that says what to do, and its end', () => {
    const { lines, report } = loggedSource('intake');
    const alarm = { code: 'WBP_ALARM_REFUSED', threshold: 0.05, help: 'https://example.com/#refused' };
    report({ type: 'alarm', ...alarm, value: 0.3, message: '30 % were refused.' });
    report({ type: 'alarm', ...alarm, code: 'WBP_ALARM_GROWING', value: 9, message: 'It grows.' });
    report({ type: 'alarm-cleared', ...alarm, value: 0.02, message: '2 % were refused.' });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', '30 % were refused.'],
      ['error', 'It grows.'],
      ['info', 'An alarm has ended. 2 % were refused.'],
    ]);
    expect(lines[0]?.fields).toEqual({ event: 'alarm', ...alarm, value: 0.3 });
  });

  it('names a few keys of 100,000 in a second', () => {
    const { lines, clock, report } = loggedSource('intake');
    for (let i = 0; i < 200_000; i += 1) report({ ...REFUSED, key: i % 2 === 0 ? 'flood' : String(i) });
    clock.advance(1000);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).toMatchObject({ count: 200_000, otherKeys: 99_996 });
    expect(lines[0]?.fields['keys']).toHaveLength(5);
  });

  it('says in a dry run what would have happened', () => {
    const { lines, clock, report } = loggedSource('intake', {}, true);
    report({ ...REFUSED, key: 'a' });
    clock.advance(1000);
    expect(lines[0]?.message).toBe('Deliveries that would have been refused in 1 s: 1 (1 full).');
    expect(lines[0]?.fields).toMatchObject({ event: 'refused', dryRun: true });
  });

  it('passes the message first to the console, and on request', () => {
    const info = vi.spyOn(console, 'info').mockImplementation(() => undefined);
    const intake = createIntake();
    logEvents(intake, console);
    const ofOption = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    logEvents(intake, ofOption, { messageFirst: true });
    const ofPino = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    logEvents(intake, ofPino);
    intake.update({ capacity: 5 });
    const fields = { event: 'updated', options: ['capacity'] };
    const message = 'Options of the intake were updated: capacity.';
    expect(info).toHaveBeenCalledExactlyOnceWith(message, fields);
    expect(ofOption.info).toHaveBeenCalledExactlyOnceWith(message, fields);
    expect(ofPino.info).toHaveBeenCalledExactlyOnceWith(fields, message);
  });

  it('calls a logger that needs its own this', () => {
    const logger = {
      messages: [] as unknown[],
      info(_: unknown, message: unknown): void {
        this.messages.push(message);
      },
      warn: () => undefined,
      error: () => undefined,
    };
    const intake = createIntake();
    logEvents(intake, logger);
    intake.update({ capacity: 5 });
    expect(logger.messages).toHaveLength(1);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the disk is full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
  ])('affects neither deliveries nor its other lines when the logger %s', async (_, fail) => {
    const rejections: unknown[] = [];
    const note = (error: unknown) => rejections.push(error);
    process.on('unhandledRejection', note);
    const { clock, intake } = createBench({ capacity: 1, highWaterMark: 1, concurrency: 1 });
    const method = vi.fn(fail);
    logEvents(intake, { info: method, warn: method, error: method }, { clock });
    const [permit] = occupy(intake);
    intake.admit();
    expect(intake.admit().admitted).toBe(false);
    clock.advance(1000);
    permit?.release();
    expect(intake.snapshot()).toMatchObject({ active: 1, depth: 0 });
    const events = method.mock.calls.map(([fields]: unknown[]) => (fields as { event: string }).event);
    expect(events).toEqual(['shedding', 'refused', 'accepting']);
    await reactions();
    await new Promise(setImmediate);
    expect(rejections).toEqual([]);
    process.off('unhandledRejection', note);
  });

  it('logs an inbox', () => {
    const { lines, logger } = recordingLogger();
    const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false });
    logEvents(inbox, logger, { name: 'orders' });
    inbox.update({ concurrency: 3 });
    expect(lines[0]).toEqual({
      level: 'info',
      fields: { event: 'updated', inbox: 'orders', options: ['concurrency'] },
      message: 'Options of the inbox were updated: concurrency.',
    });
  });
});
