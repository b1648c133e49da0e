import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { boundToThisContext } from '@webhook-backpressure/base';
import { createIntake } from '@webhook-backpressure/core';
import { expect, it } from 'vitest';

it('calls a function in the async context in which it was bound', () => {
  const storage = new AsyncLocalStorage<string>();
  const bound = storage.run('outer', () =>
    boundToThisContext((text: string) => `${text} ${storage.getStore() ?? 'none'}`),
  );
  expect(storage.run('inner', () => bound('in'))).toBe('in outer');
});

it('creates no async resource that claims to keep the process alive', () => {
  const resources: { type: string; hasRef: unknown }[] = [];
  const hook = createHook({
    init: (_asyncId, type, _triggerAsyncId, resource: { hasRef?: () => boolean }) => {
      if (type !== 'PROMISE') resources.push({ type, hasRef: resource.hasRef?.() });
    },
  }).enable();
  const intake = createIntake();
  intake.subscribe(() => undefined);
  hook.disable();
  expect(resources.length).toBeGreaterThan(0);
  expect(resources.filter(({ hasRef }) => hasRef !== false)).toEqual([]);
});
