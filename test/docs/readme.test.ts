import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtInSenders, type SenderProfile } from '@webhook-backpressure/senders';
import { root } from '../../tooling/packages.js';
import { page, rowsOf, sectionOf } from './pages.ts';

const readme = page('README.md');
const choices = rowsOf(sectionOf(readme, 'Middleware or inbox?'), 'The sender');

/** A sender may have several profiles, for requests that differ. */
const names = [...new Set(builtInSenders.map(({ name }) => name))];

function profileOf(name: string): SenderProfile {
  const found = builtInSenders.find((profile) => profile.name === name);
  if (found === undefined) throw new Error(`There is no profile ${name}.`);
  return found;
}

/** The cell that begins with these words. */
function choice(beginning: string): string {
  return choices.map((row) => row['The sender'] ?? '').find((cell) => cell.startsWith(beginning)) ?? '';
}

describe('the README', () => {
  it('counts the known senders, and those that ignore Retry-After', () => {
    const ignoring = names.filter((name) => profileOf(name).retryAfter === 'ignored');
    expect(readme.source).toContain(`identifies [${String(names.length)} senders]`);
    expect(readme.source).toContain(
      `${String(ignoring.length)} of the ${String(names.length)} known senders ignore it`,
    );
  });

  it('has the figures of the simulator for senders that ignore Retry-After', () => {
    const { comparisons } = JSON.parse(
      readFileSync(join(root, 'test/simulation/reports/figures.json'), 'utf8'),
    ) as { comparisons: Record<string, Record<string, { attemptsPerEvent: number; lost: number }>> };
    const burst = comparisons['b-500-give-up'];
    const [ignoring, honoring] = [burst?.['exponential'], burst?.['booked']];
    expect(readme.source).toContain(
      `${ignoring?.attemptsPerEvent.toFixed(2) ?? ''} per delivery instead of ${honoring?.attemptsPerEvent.toFixed(2) ?? ''}`,
    );
    expect([ignoring?.lost, honoring?.lost]).toEqual([0, 0]);
  });

  it('names senders that never retry', () => {
    expect(choice('never retries')).toContain('GitHub, GitLab, Gitea');
    for (const name of ['github', 'gitlab', 'gitea']) expect(profileOf(name).retries).toBe('none');
    expect(choice('uses your response')).toContain('Discord interactions, Twilio');
    for (const name of ['discord', 'twilio']) expect(profileOf(name).retries).toBe('none');
  });

  it('names senders that wait 3 s or less', () => {
    expect(choice('waits 3 s or less')).toContain('(Slack, Zoom, HubSpot apps)');
    for (const name of ['slack', 'zoom', 'hubspot'])
      expect(profileOf(name).timeoutMs).toBeLessThanOrEqual(3000);
    expect(readme.source).toContain('a Slack delivery (timeout 3 s) is queued for at most 2.4 s');
    expect(profileOf('slack').timeoutMs).toBe(3000);
  });

  it('names senders that retry for hours', () => {
    expect(choice('retries for hours')).toContain('(Stripe, Shopify, PayPal)');
    for (const name of ['stripe', 'shopify', 'paypal']) {
      expect(profileOf(name).retries).toEqual(
        expect.objectContaining({ windowS: expect.any(Number) as number }),
      );
    }
    expect(readme.source).toContain('retried by Stripe for up to three days');
    expect(profileOf('stripe').retries).toMatchObject({ windowS: 3 * 24 * 3600 });
  });

  it('names senders that honor Retry-After', () => {
    expect(choice('honors')).toContain('Svix, Hookdeck, Standard Webhooks, Amazon EventBridge');
    for (const name of ['svix', 'hookdeck', 'standard-webhooks', 'aws-eventbridge']) {
      expect(profileOf(name).retryAfter).toEqual(expect.objectContaining({ unit: 's' }));
    }
  });

  it('shows the live page near its beginning, light and dark, in pictures of at most 200 kB', () => {
    const beginning = readme.source.slice(0, 1500);
    for (const scheme of ['light', 'dark']) {
      const path = `docs/images/dashboard-${scheme}.png`;
      expect(beginning).toContain(`="${path}"`);
      expect(statSync(join(root, path)).size).toBeLessThan(200_000);
    }
  });
});
