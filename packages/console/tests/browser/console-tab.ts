import { launchBrowser } from '@actlog/test-browser';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { atTestEnd } from '../../../server/tests/test-end.ts';

const insecureHost = 'actlog.test';

/** Returns a server's address by a name that browsers do not trust over plain HTTP, unlike 127.0.0.1. */
export function insecureAddress(url: string): string {
  return url.replace('127.0.0.1', insecureHost);
}

/** Script that waits until observers of sizes have run and colors have faded into others. */
const drawn = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  Promise.allSettled(document.getAnimations().filter((one) => one.transitionProperty).map((one) => one.finished)))`;

/** Browser for all tests of a worker; it ends with the process. */
let browser: Promise<Browser> | undefined;

/** A tab with the console, closed after the test. Fails the test for anything that a page must never do. */
export class ConsoleTab {
  readonly page: Page;
  readonly #faults: string[] = [];
  readonly #origins: Set<string>;

  private constructor(page: Page, origin: string) {
    this.page = page;
    this.#origins = new Set([origin]);
    page.on('dialog', (dialog) => {
      this.#faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => this.#faults.push(`an error: ${error.message}`));
    page.on('console', (message) => {
      // The browser itself logs each error response.
      if (!/^Failed to load resource/.test(message.text())) this.#faults.push(`said: ${message.text()}`);
    });
    page.on('request', (request) => {
      const { protocol, origin: requested } = new URL(request.url());
      if (protocol !== 'blob:' && !this.#origins.has(requested)) this.#faults.push(`asked ${requested}`);
    });
  }

  /** Opens a page of the console in a tab that has signed in with the key. */
  static async open(
    url: string,
    apiKey: string,
    place = '/sessions',
    options?: BrowserContextOptions,
  ): Promise<ConsoleTab> {
    const tab = await ConsoleTab.blank(url, options);
    await tab.visit(url, apiKey, place);
    return tab;
  }

  /** Opens an empty tab in a new context. */
  static async blank(url: string, options?: BrowserContextOptions): Promise<ConsoleTab> {
    browser ??= launchBrowser({ args: [`--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`] });
    const context = await (await browser).newContext({ locale: 'en-GB', ...options });
    context.setDefaultTimeout(20_000);
    const tab = new ConsoleTab(await context.newPage(), new URL(url).origin);
    atTestEnd(async () => {
      await context.close();
      expect(tab.#faults).toEqual([]);
    });
    return tab;
  }

  /** Loads a page of the console as a tab does that has signed in with the key. */
  async visit(url: string, apiKey: string, place: string): Promise<void> {
    const signIn = await this.page.addInitScript(
      `sessionStorage.setItem('actlog.apiKey', ${JSON.stringify(apiKey)})`,
    );
    await this.page.goto(`${url}/console/#${place}`);
    await signIn.dispose();
  }

  /** Allows the tab to visit another server, such as a provider that people sign in with. */
  allow(url: string): void {
    this.#origins.add(new URL(url).origin);
  }

  /** Navigates within the page, like a link. */
  async go(place: string): Promise<void> {
    await this.page.goto(new URL(`#${place}`, this.page.url()).href);
  }

  /** Waits for the page with a heading. */
  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  }

  /** Has the page request its data again until an element is visible, instead of waiting for the next reload. */
  async refreshUntil(element: Locator): Promise<void> {
    await expect
      .poll(async () => {
        await this.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
        return element.isVisible();
      })
      .toBe(true);
  }

  /** Changes the width of the window, and waits until the page is drawn anew. */
  async resize(width: number): Promise<void> {
    await this.page.setViewportSize({ width, height: 900 });
    await this.page.evaluate(drawn);
  }

  /** Changes the color scheme of the browser, and waits until the page is drawn in it. */
  async useColorScheme(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.evaluate(drawn);
  }

  /** Returns by how many pixels the page is wider than its window. */
  overflow(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
  }

  /** Returns the accessibility rules that the page breaks. */
  async accessibilityFaults(): Promise<string[]> {
    // It stays while the tab changes pages without a load.
    if (!(await this.page.evaluate<boolean>('"axe" in globalThis'))) await this.page.evaluate(axe.source);
    return this.page.evaluate(async () => {
      const { violations } = await (
        globalThis as unknown as {
          axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        }
      ).axe.run({ resultTypes: ['violations'], preload: false });
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
  }
}
