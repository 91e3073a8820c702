import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { atTestEnd } from '../test-end.ts';

/** A browser of the machine. */
function installedChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return ['chromium', 'chromium-browser', 'google-chrome', 'chrome']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

const executablePath = installedChromium();

/** The address of a server of this machine by a name that browsers do not trust over plain HTTP, unlike 127.0.0.1. */
export function insecureAddress(url: string): string {
  return url.replace('127.0.0.1', insecureHost);
}

const insecureHost = 'actlog.test';

/** Whether this machine has a browser to try the console in. */
export const hasBrowser = executablePath !== undefined;

if (!hasBrowser) console.warn('✗ NOT TRIED: the console, as Chromium is not installed on this machine');

let browser: Browser;

/** Starts the browser before the tests of a file, and ends it after them. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: executablePath ?? '',
      args: ['--no-sandbox', `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`],
    });
  });
  afterAll(() => browser.close());
}

/** A person's tab with the console, closed after the test; fails the test for anything that a page must never do. */
export class ConsoleTab {
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #faults: string[] = [];

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.page = page;
    page.on('dialog', (dialog) => {
      this.#faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => this.#faults.push(`an error: ${error.message}`));
    page.on('console', (message) => {
      // The browser itself says so of each answer that is an error.
      if (!/^Failed to load resource/.test(message.text())) this.#faults.push(`said: ${message.text()}`);
    });
    page.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (protocol !== 'blob:' && asked !== origin) this.#faults.push(`asked ${asked}`);
    });
  }

  /** Opens a page of the console with the key, by the link that the server prints. */
  static async open(
    url: string,
    apiKey: string,
    place = '',
    options: BrowserContextOptions = {},
  ): Promise<ConsoleTab> {
    const tab = await ConsoleTab.blank(url, options);
    await tab.page.goto(`${url}/console/#key=${apiKey}`);
    await tab.heading('Sessions');
    if (place !== '') await tab.go(place);
    return tab;
  }

  /** A tab that shows nothing yet. */
  static async blank(url: string, options: BrowserContextOptions = {}): Promise<ConsoleTab> {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    context.setDefaultTimeout(10_000);
    // The rules of accessibility that every page is held against.
    await context.addInitScript({ content: axe.source });
    const tab = new ConsoleTab(context, await context.newPage(), new URL(url).origin);
    atTestEnd(() => tab.#close());
    return tab;
  }

  /** Goes to a place within the page, as a link does. */
  async go(place: string): Promise<void> {
    await this.page.goto(new URL(`#${place}`, this.page.url()).href);
  }

  /** Waits for the page with this heading. */
  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  }

  /** What the page breaks of the rules of accessibility. */
  async accessibilityFaults(): Promise<string[]> {
    return this.page.evaluate(async () => {
      const { violations } = await (
        globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        }
      ).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    });
  }

  async #close(): Promise<void> {
    await this.#context.close();
    expect(this.#faults).toEqual([]);
  }
}
