import { AsyncLocalStorage } from 'node:async_hooks';
import type { IntakeEvent } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { createBench, occupy } from '../harness.ts';

describe('events that a listener causes', () => {
  it('come after the current event for all listeners', () => {
    const { intake } = createBench({ concurrency: 1 });
    occupy(intake);
    const first: IntakeEvent[] = [];
    intake.subscribe((event) => {
      first.push(event);
      if (event.type === 'queued') intake.update({ concurrency: 2 });
    });
    const second: IntakeEvent[] = [];
    intake.subscribe((event) => second.push(event));
    intake.admit();
    expect(second.map(({ type }) => type)).toEqual(['queued', 'started', 'updated']);
    expect(first).toEqual(second);
  });

  it('keep the context of what caused them', () => {
    const requests = new AsyncLocalStorage<string>();
    const { intake } = createBench({ concurrency: 1 });
    occupy(intake);
    const heard: unknown[] = [];
    intake.subscribe(({ type }) => {
      if (type === 'queued' && intake.snapshot().depth === 1) requests.run('inner', () => intake.admit());
    });
    intake.subscribe(({ type }) => heard.push([type, requests.getStore()]), { inRequestContext: true });
    requests.run('outer', () => intake.admit());
    expect(heard).toEqual([
      ['queued', 'outer'],
      ['queued', 'inner'],
    ]);
  });

  it('are the first that a listener gets that is added meanwhile', () => {
    const { intake } = createBench();
    const heard: IntakeEvent[] = [];
    let added = 0;
    const listener = (event: IntakeEvent): void => {
      heard.push(event);
      if (added < 5) intake.subscribe(listener);
      added += 1;
    };
    intake.subscribe(listener);
    intake.update({ capacity: 5 });
    expect(heard).toHaveLength(1);
    intake.update({ capacity: 6 });
    expect(heard).toHaveLength(3);
  });

  it('end when a listener causes one at each event, and harm no later event', () => {
    const { intake } = createBench({ shed: { off: true } });
    const unsubscribe = intake.subscribe(() => {
      intake.admit({ key: 'off' });
    });
    intake.admit({ key: 'off' });
    unsubscribe();
    const heard: IntakeEvent[] = [];
    intake.subscribe((event) => heard.push(event));
    intake.admit({ key: 'off' });
    expect(heard).toHaveLength(1);
  });
});
