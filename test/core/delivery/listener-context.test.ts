import { AsyncLocalStorage } from 'node:async_hooks';
import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { createIntake, type IntakeEvent } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { holdTimer, systemClock } from '@webhook-backpressure/base';
import { letIn, startedLater, startedNow, turnedAway } from '../harness.ts';

describe('a listener', () => {
  it('sees the async context of its subscription, not that of the request that caused the event', async () => {
    const context = new AsyncLocalStorage<string>();
    const clock = manualClock();
    const intake = createIntake({ clock, concurrency: 1, maxHandlingMs: 5000 });
    const seen: [IntakeEvent['type'], string | undefined][] = [];
    const orphan: (string | undefined)[] = [];
    intake.subscribe(() => orphan.push(context.getStore()));
    context.run('subscriber', () => {
      intake.subscribe((event) => seen.push([event.type, context.getStore()]));
    });

    const first = context.run('request 1', () => startedNow(intake.admit()));
    const second = context.run('request 2', () => letIn(intake.admit()));
    context.run('request 1', () => {
      first.release();
    });
    await context.run('request 2', () => startedLater(second));
    clock.advance(5100);
    expect(seen).toEqual([
      ['started', 'subscriber'],
      ['queued', 'subscriber'],
      ['completed', 'subscriber'],
      ['started', 'subscriber'],
      ['overdue', 'subscriber'],
      ['completed', 'subscriber'],
    ]);
    expect(new Set(orphan)).toEqual(new Set([undefined]));
  });

  it('can ask for the context that caused the event, which for a queued delivery is its request', async () => {
    const context = new AsyncLocalStorage<string>();
    const intake = createIntake({ concurrency: 1, capacity: 1 });
    const seen: [IntakeEvent['type'], string | undefined][] = [];
    context.run('subscriber', () => {
      intake.subscribe((event) => seen.push([event.type, context.getStore()]), { inRequestContext: true });
    });
    const first = context.run('request 1', () => startedNow(intake.admit()));
    const second = context.run('request 2', () => letIn(intake.admit()));
    context.run('request 3', () => turnedAway(intake.admit()));
    context.run('request 1', () => {
      first.release();
    });
    await startedLater(second);
    expect(seen.filter(([type]) => type !== 'shedding' && type !== 'accepting')).toEqual([
      ['started', 'request 1'],
      ['queued', 'request 2'],
      ['refused', 'request 3'],
      ['completed', 'request 1'],
      ['started', 'request 1'],
    ]);
  });

  it.each([[null], [{ inRequestContext: 'yes' }]])('is refused with the wrong options %j', (options) => {
    const intake = createIntake();
    expect(() => intake.subscribe(() => undefined, options as object)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_LISTENER' }),
    );
  });

  it('of an inbox does so too', async () => {
    const context = new AsyncLocalStorage<string>();
    const inbox = createInbox({ store: memoryStore(), process: () => undefined, verify: false });
    const seen = new Set<string | undefined>();
    inbox.subscribe(() => seen.add(context.getStore()));
    const body = { headers: {}, hint: '', read: () => Promise.resolve('whole' as const) };
    await context.run('request', () => inbox.receive(body));
    await inbox.close();
    expect(seen).toEqual(new Set([undefined]));
  });

  it('that throws or unsubscribes harms no other', () => {
    const intake = createIntake();
    const types: string[] = [];
    intake.subscribe(() => {
      throw new Error('broken');
    });
    const leave = intake.subscribe(({ type }) => types.push(type));
    startedNow(intake.admit());
    leave();
    startedNow(intake.admit());
    expect(types).toEqual(['started']);
  });
});

describe('a timer of the system clock', () => {
  it('sees no async context of the request that set it', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen = await context.run(
      'request',
      () =>
        new Promise((resolve) => {
          const timer = systemClock.setTimeout(() => {
            resolve(context.getStore());
          }, 0);
          holdTimer(timer);
        }),
    );
    expect(seen).toBeUndefined();
  });
});
