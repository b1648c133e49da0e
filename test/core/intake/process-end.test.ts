import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createIntake } from '@webhook-backpressure/core';
import { manualClock, type ManualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { letIn, startedNow } from '../harness.ts';

/** A program with nothing but an intake: no server, no socket. How it ended, and what it printed. */
async function outcomeOf(program: string): Promise<{ code: unknown; output: string }> {
  const source = `import { createIntake } from '@webhook-backpressure/core';\n${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: import.meta.dirname,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<unknown[]>]);
  return { code, output };
}

describe('a process with nothing but an intake', () => {
  it('lives until a queued delivery has been handled or refused', async () => {
    const program = `
      const intake = createIntake({ concurrency: 1, maxWaitMs: 60 });
      intake.admit();
      const late = await intake.admit().permit;
      console.log(late.reason);
    `;
    expect(await outcomeOf(program)).toEqual({ code: 0, output: 'wait\n' });
  });

  it('lives until a paced delivery has started', async () => {
    const program = `
      const intake = createIntake({ maxStartsPerSecond: 10 });
      intake.admit();
      const next = await intake.admit().permit;
      console.log(next.admitted);
    `;
    expect(await outcomeOf(program)).toEqual({ code: 0, output: 'true\n' });
  });

  it('lives until it is closed', async () => {
    const program = `
      const intake = createIntake();
      intake.admit();
      console.log((await intake.close({ timeoutMs: 50 })).remaining);
    `;
    expect(await outcomeOf(program)).toEqual({ code: 0, output: '1\n' });
  });

  it('is not kept alive by a permit', async () => {
    const program = `
      const intake = createIntake();
      intake.admit();
      process.on('exit', () => console.log(intake.snapshot().active));
    `;
    expect(await outcomeOf(program)).toEqual({ code: 0, output: '1\n' });
  });
});

describe('the shared timer', () => {
  it('keeps the process alive only while deliveries are queued', async () => {
    const clock: ManualClock = manualClock();
    const setTimeout = clock.setTimeout.bind(clock);
    const held: boolean[] = [];
    clock.setTimeout = (callback, ms) => {
      const index = held.push(false) - 1;
      return Object.assign(setTimeout(callback, ms) as object, {
        ref: () => {
          held[index] = true;
        },
      });
    };
    const intake = createIntake({ clock, concurrency: 1 });
    const first = startedNow(intake.admit());
    expect(held).toEqual([false]);
    const waiting = letIn(intake.admit());
    expect(held).toEqual([true]);
    clock.advance(50);
    expect(held).toEqual([true, true]);
    first.release();
    await waiting.permit;
    clock.advance(50);
    expect(held).toEqual([true, true, false]);
  });
});
