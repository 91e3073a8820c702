import { type RunningServer, startServer } from '@actlog/server';
import { launchBrowser } from '@actlog/test-browser';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';

let browser: Browser;
let server: RunningServer;

/** Starts a server and a browser before the tests of a file, and closes them after it. */
export function useDocsServer(): void {
  beforeAll(async () => {
    server = await startServer({ port: 0, database: ':memory:' });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
  });
}

/** Returns the address of the running server. */
export function serverUrl(): string {
  return server.url;
}

/**
 * Opens a page of the site. At the end, the test fails if the page reported an error, violated its security policy, or
 * requested anything from another origin.
 *
 * @param path Path below `/docs/`.
 * @param url Address of the server or of a proxy before it.
 */
export async function openDocs(
  path: string,
  { url = server.url, ...options }: BrowserContextOptions & { url?: string } = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== new URL(url).origin)
      faults.push(`request: ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  await page.goto(`${url}/docs/${path}`, { waitUntil: 'networkidle' });
  return page;
}

/** Returns the paths of the results of the search box for a query, in order. */
export async function search(page: Page, query: string): Promise<string[]> {
  const input = page.locator('#localsearch-input');
  // The page answers to the keyboard only once its scripts have run.
  await vi.waitFor(
    async () => {
      await page.keyboard.press('Control+k');
      await input.waitFor({ timeout: 500 });
    },
    { timeout: 20_000 },
  );
  await input.fill(query);
  const results = page.locator('#localsearch-list a.result');
  await results.first().waitFor();
  // Results arrive a moment after the input; the marks of the query show that they belong to it.
  await page.locator('#localsearch-list mark').first().waitFor();
  const links = await results.all();
  const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
  return hrefs.map((href) => new URL(href ?? '', page.url()).pathname);
}

/** Returns the accessibility faults that axe finds on a page. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target }) => target.join(' '))
        .slice(0, 3)
        .join('; ')}`,
  );
}
