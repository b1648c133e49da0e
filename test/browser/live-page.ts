import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { SESSION, type Receiver } from './receiver.ts';

/** How an operator looks at the page. */
export interface View {
  readonly width?: 390 | 1440;
  readonly colorScheme?: 'light' | 'dark';
}

/** The live page in a browser, by what an operator sees of it. */
export class LivePage {
  readonly page: Page;
  /** Errors in the console, exceptions of scripts, and violations of the content security policy. */
  readonly errors: string[] = [];
  /** The addresses of all requests. */
  readonly requests: string[] = [];
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(`${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.errors.push(error.message));
    context.on('request', (request) => this.requests.push(request.url()));
  }

  /** Opens it with the cookie of an operator. */
  static async open(browser: Browser, receiver: Receiver, view: View = {}): Promise<LivePage> {
    const { width = 1440, colorScheme = 'light' } = view;
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    await context.addCookies([{ ...SESSION, url: receiver.origin }]);
    const live = new LivePage(context, await context.newPage());
    await live.page.goto(receiver.page);
    await live.connection.getByText('Live', { exact: true }).waitFor();
    return live;
  }

  close(): Promise<void> {
    return this.#context.close();
  }

  get connection(): Locator {
    return this.page.getByRole('banner').getByRole('status');
  }

  /** The state in one word. */
  get state(): Locator {
    return this.page.locator('.state-word');
  }

  get levers(): Locator {
    return this.page.getByRole('form', { name: 'Change options' });
  }

  /** A part of the page by its heading. */
  part(heading: string | RegExp): Locator {
    return this.page.getByRole('region', { name: heading });
  }

  /** The last values of a chart as text, in the order of its legend. */
  values(chart: string): Promise<string[]> {
    return this.part(chart).locator('.legend b').allTextContents();
  }

  /** The pixels of a chart. */
  async pixels(chart: string): Promise<string> {
    const image = await this.part(chart).locator('canvas').screenshot();
    return image.toString('base64');
  }

  /** Shows an intake or an inbox. */
  async choose(name: string): Promise<void> {
    await this.page.getByRole('tab', { name }).click();
  }
}
