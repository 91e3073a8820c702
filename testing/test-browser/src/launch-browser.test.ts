import { afterEach, expect, test, vi } from 'vitest';
import { launchBrowser } from './launch-browser.ts';

afterEach(() => vi.unstubAllEnvs());

test('launches a browser that renders text', async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.setContent('<span>text</span>');
    expect(await page.getByText('text').boundingBox()).toMatchObject({
      width: expect.toSatisfy((width) => width > 0),
      height: expect.toSatisfy((height) => height > 0),
    });
  } finally {
    await browser.close();
  }
});

test('rejects a path without a program, and names its environment variable', async () => {
  vi.stubEnv('ACTLOG_TEST_BROWSER', '/nowhere/chromium');
  await expect(launchBrowser()).rejects.toThrow(
    'ACTLOG_TEST_BROWSER must be the path of a Chromium, got /nowhere/chromium, which does not exist.',
  );
});

test('says what to do when the browser does not start', async () => {
  vi.stubEnv('ACTLOG_TEST_BROWSER', process.execPath);
  await expect(launchBrowser()).rejects.toThrow('set ACTLOG_TEST_BROWSER to the path of a Chromium');
});
