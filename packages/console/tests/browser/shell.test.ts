import { describe, expect, test } from 'vitest';

import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const shownScheme = 'getComputedStyle(document.documentElement).colorScheme';
const focused = 'document.activeElement.tagName';

/** Opens a server with two sessions of two agents. */
async function openTab(place = '/', options?: Parameters<typeof ConsoleTab.open>[3]): Promise<ConsoleTab> {
  const server = await ConsoleServer.create();
  const payload = { toolName: 'refund', argumentsHash: 'sha256:aa', responseStatus: 200 };
  await server.record(
    { sessionId: 'order-1', agentId: 'refunder', payload },
    { sessionId: 'ticket-9', agentId: 'support', payload },
  );
  return ConsoleTab.open(server.server.url, server.apiKey, place, options);
}

describe('color scheme', () => {
  test('follows the choice of the user, in every tab and after a reload', async () => {
    const { page } = await openTab('/', { colorScheme: 'light' });
    const other = await page.context().newPage();
    await other.goto(page.url());
    const choice = page.getByRole('radiogroup', { name: 'Color scheme' });
    await choice.getByRole('radio', { name: 'Dark' }).check({ force: true });
    await expect.poll(() => page.evaluate(shownScheme)).toBe('dark');
    await expect.poll(() => other.evaluate(shownScheme)).toBe('dark');
    await page.reload();
    await page.getByRole('radio', { name: 'Dark', checked: true }).waitFor({ state: 'attached' });
    expect(await page.evaluate(shownScheme)).toBe('dark');
    await choice.getByRole('radio', { name: 'Dark' }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.evaluate(shownScheme)).toBe('light');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.evaluate(shownScheme)).toBe('light dark');
  });

  test('is set before the script of the page runs, so that nothing flashes', async () => {
    const { page } = await openTab('/', { colorScheme: 'light' });
    await page.evaluate('localStorage.setItem("actlog.colorScheme", "dark")');
    await page.route('**/console-*.js', (route) => route.abort());
    await page.reload();
    expect(await page.evaluate(shownScheme)).toBe('dark');
    expect(await page.locator('#root').innerHTML()).toBe('');
  });

  test('is followed by the charts', async () => {
    const { page } = await openTab('/', { colorScheme: 'light' });
    const chart = () => page.evaluate<string>('document.querySelector("canvas").toDataURL()');
    await page.locator('canvas').first().waitFor();
    // Responses would draw them too.
    await page.route('**/server/v1/overview?*', () => {});
    const light = await chart();
    await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
    await expect.poll(chart).not.toBe(light);
    const dark = await chart();
    await page.getByRole('radio', { name: 'Same as the system' }).check({ force: true });
    await expect.poll(chart).toBe(light);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(chart).toBe(dark);
  });
});

describe('navigation', () => {
  test('is a menu on a narrow screen, which closes when a page opens', async () => {
    const tab = await openTab('/', { viewport: { width: 360, height: 740 } });
    const { page } = tab;
    const link = page.getByRole('link', { name: 'Agents', exact: true });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).focus();
    await page.keyboard.press('Enter');
    await link.waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await link.focus();
    await page.keyboard.press('Enter');
    await tab.heading('Agents');
    await link.waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate(focused)).toBe('MAIN');
  });

  test('links to the docs', async () => {
    const { page } = await openTab();
    await expect.poll(() => page.getByRole('link', { name: 'Docs' }).getAttribute('href')).toBe('../docs/');
  });

  test('shows the columns of a table as labels where there is no room for them', async () => {
    const { page } = await openTab('/agents', { viewport: { width: 390, height: 844 } });
    const cell = page.getByRole('row').filter({ hasText: 'refunder' }).getByRole('cell').nth(1);
    await cell.waitFor();
    const label = 'getComputedStyle(document.querySelector("td[data-label=Status]"), "::before").content';
    expect(await page.evaluate(label)).toContain('Status');
  });
});

describe('command palette', () => {
  test('opens from a field, and leads to a page, a session and the sessions of an agent', async () => {
    const tab = await openTab('/sessions');
    const { page } = tab;
    for (const [typed, option, place] of [
      ['decis', 'Decisions g d', '#/decisions'],
      ['icket', 'ticket-9', '#/sessions/ticket-9'],
      ['efund', 'refunder', '#/sessions?agent=refunder'],
    ] as const) {
      await tab.go('/sessions');
      await page.getByLabel('Session id contains').focus();
      await page.keyboard.press('Control+k');
      const dialog = page.getByRole('dialog', { name: 'Search' });
      await dialog.getByRole('combobox').fill(typed);
      await dialog.getByRole('option', { name: option, selected: true }).waitFor();
      expect(await tab.accessibilityFaults()).toEqual([]);
      await page.keyboard.press('Enter');
      await expect.poll(() => new URL(page.url()).hash).toBe(place);
      await dialog.waitFor({ state: 'detached' });
    }
  });

  test('is operated by arrow keys, and says when nothing matches', async () => {
    const { page } = await openTab('/policies');
    await page.getByRole('button', { name: 'Search' }).click();
    const selected = page.getByRole('option', { selected: true });
    await expect.poll(() => selected.textContent()).toContain('Overview');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => selected.textContent()).toContain('Sessions');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => selected.textContent()).not.toContain('Overview');
    await page.getByRole('combobox').fill('zzzz');
    await page.getByText('No page, session or agent has “zzzz” in its name.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).toBe('#/policies');
  });
});

describe('shortcuts', () => {
  test('are listed by ?, and lead to pages', async () => {
    const tab = await openTab();
    const { page } = tab;
    await tab.heading('Overview');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Agents').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await tab.heading('Agents');
  });

  test('are text in a field', async () => {
    const { page } = await openTab('/sessions');
    const field = page.getByLabel('Session id contains');
    await field.waitFor();
    await page.keyboard.press('/');
    await page.getByLabel('Agent', { exact: true }).and(page.locator(':focus')).waitFor();
    await field.pressSequentially('gs?/');
    await expect.poll(() => field.inputValue()).toBe('gs?/');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
