import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

/** Somebody who reads the site in a browser. */
export class Reader {
  readonly page: Page;
  /** Errors in the console, and of the page. */
  readonly errors: string[] = [];
  /** The addresses of all requests. */
  readonly requests: string[] = [];
  readonly #address: string;
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page, address: string) {
    this.#address = address;
    this.#context = context;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('request', (request) => this.requests.push(request.url()));
  }

  static async open(browser: Browser, address: string, view: View): Promise<Reader> {
    const context = await browser.newContext({
      viewport: { width: view.width, height: view.width < 600 ? 844 : 900 },
      colorScheme: view.colorScheme,
      hasTouch: view.width < 600,
    });
    return new Reader(context, await context.newPage(), address);
  }

  /** Opens a page of the site, by its path below the base path, and waits until it reacts. */
  async visit(path: string): Promise<void> {
    await this.page.goto(`${this.#address}${path}`, { waitUntil: 'networkidle' });
    // Before, keys and clicks have no effect.
    await this.page.waitForFunction(`document.querySelector('#app').__vue_app__ !== undefined`);
  }

  /** What axe-core finds serious or critical. */
  async violations(): Promise<string[]> {
    await this.page.evaluate(axe.source);
    const { violations } = await this.page.evaluate<AxeResults>('axe.run(document)');
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      );
  }

  /** How far the page can be scrolled sideways, in pixels. */
  async overflow(): Promise<number> {
    const html = 'document.documentElement';
    return Number(await this.page.evaluate(`${html}.scrollWidth - ${html}.clientWidth`));
  }

  async close(): Promise<void> {
    await this.#context.close();
  }
}

/** A screen. */
export interface View {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}
