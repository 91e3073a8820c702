import { installedBrowser } from '@actlog/test-browser';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PageServer } from './browser/page-server.ts';

let pages: PageServer;

beforeAll(async () => {
  pages = await PageServer.start();
});
afterAll(() => pages.close());

it('responds to the client in a browser through the worker', async ({ skip }) => {
  const executablePath = installedBrowser();
  if (executablePath === undefined) {
    console.warn('✗ NOT TRIED: Chromium is not installed on this machine');
    return skip('Chromium is not installed');
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
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

it('imports no Node module, so that any bundler can bundle it', () => {
  expect(/(from|import\(|require\()\s*["'](node:|undici)/.exec(pages.bundle)).toBeNull();
});
