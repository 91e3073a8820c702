import { installedBrowser } from '@actlog/test-browser';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { atTestEnd } from '../../../server/tests/test-end.ts';

const executablePath = installedBrowser();

/** Returns a server's address by a name that browsers do not trust over plain HTTP, unlike 127.0.0.1. */
export function insecureAddress(url: string): string {
  return url.replace('127.0.0.1', insecureHost);
}

const insecureHost = 'actlog.test';

/** `true` if this machine has a browser for the console's tests. */
export const hasBrowser = executablePath !== undefined;

if (!hasBrowser) console.warn('✗ NOT TRIED: the console, as Chromium is not installed on this machine');

let browser: Browser;

/** Unused contexts. A new one costs more than the page that a test opens in it. */
let idle: BrowserContext[] = [];

/** Options of a tab whose test changes its context permanently, as a clock does. */
export const ownContext: BrowserContextOptions = {};

/** Starts the browser before the tests of a file, and closes it after them. */
export function useBrowser(): void {
  beforeAll(async () => {
    idle = [];
    browser = await chromium.launch({
      executablePath: executablePath ?? '',
      args: ['--no-sandbox', `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`],
    });
  });
  afterAll(() => browser.close());
}

/** Fails a test that moves the clock of a shared context. */
function forbidClock({ clock }: Page): void {
  const refuse = () =>
    Promise.reject(new Error('A clock changes its whole context: open the tab with `ownContext`.'));
  for (const name of [
    'install',
    'pauseAt',
    'runFor',
    'fastForward',
    'setFixedTime',
    'setSystemTime',
  ] as const) {
    clock[name] = refuse;
  }
}

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

  /** Opens a page of the console with the key, by the link that the server prints. */
  static async open(
    url: string,
    apiKey: string,
    place = '/sessions',
    options?: BrowserContextOptions,
  ): Promise<ConsoleTab> {
    const tab = await ConsoleTab.blank(url, options);
    await tab.page.goto(`${url}/console/#key=${apiKey}`);
    await tab.heading('Overview');
    if (place !== '/') await tab.go(place);
    return tab;
  }

  /** Opens an empty tab; with options, in its own context. */
  static async blank(url: string, options?: BrowserContextOptions): Promise<ConsoleTab> {
    const context = (!options && idle.pop()) || (await browser.newContext({ locale: 'en-GB', ...options }));
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    if (!options) forbidClock(page);
    const tab = new ConsoleTab(page, new URL(url).origin);
    atTestEnd(async () => {
      if (options) await context.close();
      else await tab.#release(context);
      expect(tab.#faults).toEqual([]);
    });
    return tab;
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

  /** Closes the tab, and keeps its context for another test. */
  async #release(context: BrowserContext): Promise<void> {
    await Promise.all(context.pages().map((page) => page.close()));
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.clearCookies();
    idle.push(context);
  }
}
