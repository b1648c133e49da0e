import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { LivePage } from './live-page.ts';
import { openBrowser, OPEN_BROWSER_LIMIT_MS, type Opened } from './open-browser.ts';
import { Receiver } from './receiver.ts';

/** For a machine that runs other tests as well. The page itself changes within a second. */
export const POLL = { timeout: 30_000, interval: 100 };

/** What a test in the browser works with. */
export interface InBrowser {
  readonly browser: Browser;
  readonly receiver: Receiver;
  readonly live: LivePage;
  /** Ends the process of the receiver, and starts it again on the same port. */
  restart(whileDown: () => Promise<void>): Promise<void>;
  /** Errors in the console that belong to the test: Chromium reports every status from 400 there. */
  expectErrors(pattern: RegExp): void;
}

/**
 * Opens the live page of a new receiver before each test of a file. After each test it checks that there was no error in
 * the console and no request to another origin. Where there is no browser, the tests are skipped.
 */
export function inBrowser(): InBrowser {
  let opened: Opened;
  let receiver: Receiver | undefined;
  let live: LivePage | undefined;
  let expected: RegExp | undefined;

  beforeAll(async () => {
    opened = await openBrowser();
  }, OPEN_BROWSER_LIMIT_MS);

  afterAll(() => opened.close?.());

  beforeEach(async ({ skip }) => {
    if (opened.browser === undefined) {
      skip(opened.missing);
      return;
    }
    expected = undefined;
    receiver = new Receiver();
    await receiver.listen();
    live = await LivePage.open(opened.browser, receiver);
  }, POLL.timeout);

  afterEach(async () => {
    if (live === undefined || receiver === undefined) return;
    const { errors, requests } = live;
    await live.close();
    await receiver.close();
    expect(errors.filter((error) => expected?.test(error) !== true)).toEqual([]);
    const origins = new Set(requests.map((url) => new URL(url).origin));
    // The icon is in a data: URL, whose origin is null.
    origins.delete('null');
    expect([...origins]).toEqual([receiver.origin]);
  }, POLL.timeout);

  const is = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('Nothing is open outside of a test.');
    return value;
  };
  return {
    get browser() {
      return is(opened.browser);
    },
    get receiver() {
      return is(receiver);
    },
    get live() {
      return is(live);
    },
    async restart(whileDown) {
      const { port } = is(receiver);
      await receiver?.close();
      await whileDown();
      receiver = new Receiver();
      await receiver.listen(port);
    },
    expectErrors(pattern) {
      expected = pattern;
    },
  };
}
