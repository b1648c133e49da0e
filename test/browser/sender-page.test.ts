import { expect, it } from 'vitest';
import type { Locator } from 'playwright-core';
import { inBrowser, POLL } from './in-browser.ts';

const HOSTILE = '<script>document.title = "taken over"</script>';
const LIMIT_MS = 120_000;

const at = inBrowser();

async function send(endpoint: string, count: number): Promise<void> {
  const { sender } = at.receiver;
  for (let one = 0; one < count; one += 1) await sender.send({ endpoint, type: 'test', data: { one } });
}

function rowOf(endpoint: string): Locator {
  return at.live.part(/^Endpoints/).locator('tbody tr', { hasText: endpoint });
}

it(
  'shows the endpoints of a sender, the busiest first, and its alarms',
  async () => {
    const { live } = at;
    await live.choose('outgoing');
    await expect.poll(() => live.state.textContent(), POLL).toBe('Accepting');
    await send('busy', 150);
    await send(HOSTILE, 1);
    await expect.poll(() => rowOf('busy').textContent(), POLL).toContain('waiting');
    await expect.poll(() => rowOf('busy').textContent(), POLL).toContain('150');
    const alarm = live.page.getByRole('list', { name: 'Alarms' }).getByText('Many queued events');
    await expect.poll(() => alarm.count(), POLL).toBe(1);
    await expect.poll(async () => (await live.values('Outbox'))[0], POLL).toBe('150');
    expect(await live.page.title()).not.toContain('taken over');
    expect(await live.page.evaluate('document.documentElement.scrollWidth')).toBe(1440);
  },
  LIMIT_MS,
);

it(
  'pauses and resumes an endpoint, sets its rate, and lists the changes',
  async () => {
    const { live, receiver } = at;
    await live.choose('outgoing');
    await send('busy', 1);
    await rowOf('busy').getByRole('button', { name: 'Pause busy' }).click();
    await live.page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => rowOf('busy').textContent(), POLL).toContain('paused');
    expect(receiver.sender.endpoints.get('busy')?.state).toBe('paused');
    await rowOf('busy').getByRole('button', { name: 'Resume busy' }).click();
    await expect.poll(() => receiver.sender.endpoints.get('busy')?.state, POLL).not.toBe('paused');

    await rowOf('busy').getByRole('button', { name: 'Rate of busy' }).click();
    await live.page.getByLabel('Requests per second').fill('3');
    await live.page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => receiver.sender.endpoints.get('busy')?.setRatePerSecond, POLL).toBe(3);
    await expect.poll(() => live.part('Changes').textContent(), POLL).toContain('rate of busy → 3/s');
    expect(await live.part('Changes').textContent()).toContain('paused busy');
  },
  LIMIT_MS,
);

it(
  'purges the dead letters of a sender',
  async () => {
    const { live, receiver } = at;
    await live.choose('outgoing');
    await send('broken', 2);
    const letters = live.part(/^Dead letters/);
    await expect.poll(() => letters.locator('tbody tr').count(), POLL).toBe(2);
    await letters.getByRole('button', { name: 'Purge all' }).click();
    await live.page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
    await expect.poll(() => letters.textContent(), POLL).toContain('Purged 2 dead letters.');
    expect(await receiver.sender.deadLetters.list()).toEqual([]);
  },
  LIMIT_MS,
);
