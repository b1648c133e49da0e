import { afterEach, describe, expect, it } from 'vitest';
import { expectRefusal, REFUSALS } from './answers.ts';
import { drivers } from './drivers.ts';
import { held } from './held.ts';
import { starter, stopAll } from './receiver.ts';

// Each with the next one, and the last with the first.
const pairs = drivers.map((driver, index) => ({
  driver,
  other: drivers[(index + 1) % drivers.length] ?? driver,
}));

describe.each(pairs)('an intake shared by $driver.name and $other.name', ({ driver, other }) => {
  afterEach(stopAll);

  it('counts the deliveries of both frameworks', async () => {
    const { handle, release } = held();
    const first = await starter(driver)({ concurrency: 1, capacity: 1 }, { handle });
    const second = await starter(other)({ intake: first.intake }, { handle });
    const handled = await first.sendToHandle({ body: 'first' });
    const waiting = await second.sendToWait({ body: 'second' });
    await expectRefusal(first.send().reply, REFUSALS.full503);
    await expectRefusal(second.send().reply, REFUSALS.full503);
    release();
    expect((await handled.reply).body).toBe('first');
    await second.whenHandled(1);
    release();
    expect((await waiting.reply).body).toBe('second');
  });
});
