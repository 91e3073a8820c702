import { launchBrowser } from '@actlog/test-browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PageServer } from './browser/page-server.ts';

let pages: PageServer;

beforeAll(async () => {
  pages = await PageServer.start();
});
afterAll(() => pages.close());

test('responds to the client in a browser through the worker', async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(pages.url);
    const outcome = await (await page.waitForFunction('window.outcome')).jsonValue();
    expect(outcome).toEqual({
      usesFetch: true,
      statuses: [429, 202],
      tools: ['search'],
      eventCount: 1,
      dimensions: 10,
      decision: 'deny',
    });
  } finally {
    await browser.close();
  }
});

test('imports no Node module, so that any bundler can bundle it', () => {
  expect(/(from|import\(|require\()\s*["'](node:|undici)/.exec(pages.bundle)).toBeNull();
});
