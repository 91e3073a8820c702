import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { checkBody, type TestServer, testServer } from '../test-server.ts';
import { ConsoleTab, hasBrowser, useBrowser } from './console-tab.ts';

/** Records sessions of one call each, a second apart, of two agents by turns. */
async function sessions(server: TestServer, ids: readonly string[], fromMs = Date.now() - 3_600_000) {
  for (const [index, sessionId] of ids.entries()) {
    const sourceTimestamp = new Date(fromMs + 1000 * index).toISOString();
    await server.record({ sessionId, agentId: index % 2 === 0 ? 'even' : 'odd', sourceTimestamp });
  }
}

/** The names `prefix-0`, `prefix-1`, … */
function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}-${number}`);
}

/** Pixels from the upper edge of the window to the link with this name. */
async function topOf(page: Page, name: string): Promise<number> {
  const box = await page.getByRole('link', { name, exact: true }).boundingBox();
  return Math.round(box?.y ?? Number.NaN);
}

/** Browsers scroll by whole pixels, and rows begin between them. */
function isNear(expected: number): (pixels: number) => boolean {
  return (pixels) => Math.abs(pixels - expected) <= 1;
}

/** A tab in which a person has read a session and gone back to the list, whose answer waits until it is let through. */
async function backToSlowSessions() {
  const server = await testServer();
  await sessions(server, named('s', 40));
  const tab = await ConsoleTab.open(server.server.url, server.apiKey);
  const { page } = tab;
  await page.getByRole('link', { name: 's-1', exact: true }).click();
  await tab.heading('s-1');
  const late = Promise.withResolvers<void>();
  await page.route('**/v1/sessions', async (route) => {
    await late.promise;
    await route.continue();
  });
  await page.goBack();
  await tab.heading('Sessions');
  return { tab, page, answer: late.resolve };
}

const focused = 'document.activeElement.textContent';

describe.skipIf(!hasBrowser)('who comes back in the console', () => {
  useBrowser();

  test('to the sessions finds the same rows at the same place, with the focus on the one they read', async () => {
    const server = await testServer();
    await sessions(server, named('s', 160));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    for (const last of ['s-110', 's-60']) {
      await link(last).waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Show more' }).click();
    }
    await link('s-20').scrollIntoViewIfNeeded();
    const top = await topOf(page, 's-20');
    await link('s-20').click();
    await tab.heading('s-20');
    expect(await page.evaluate('scrollY')).toBe(0);
    // As many that the row would be on a page further on.
    await sessions(server, named('new', 30), Date.now() - 60_000);
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe('s-20');
    expect(await topOf(page, 's-20')).toSatisfy(isNear(top));
    expect(await link('s-10').count()).toBe(1);
    await link('new-29').waitFor();
    await page.goForward();
    await tab.heading('s-20');
    await page.getByRole('link', { name: 'Sessions' }).last().click();
    await expect.poll(() => page.evaluate(focused)).toBe('s-20');
    expect(await topOf(page, 's-20')).toSatisfy(isNear(top));
  });

  test('to filtered sessions finds them filtered, also by the link above the session', async () => {
    const server = await testServer();
    await sessions(server, named('s', 4));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions?agent=odd');
    const { page } = tab;
    await page.getByRole('link', { name: 's-1' }).click();
    await tab.heading('s-1');
    await page.reload();
    await tab.heading('s-1');
    const back = page.locator('main').getByRole('link', { name: 'Sessions' });
    expect(await back.getAttribute('href')).toBe('#/sessions?agent=odd');
    await back.click();
    await page.getByRole('link', { name: 's-3' }).waitFor();
    expect(await page.getByRole('link', { name: 's-2' }).count()).toBe(0);
    // Nothing is behind: the way went back, not on.
    await page.goForward();
    await tab.heading('s-1');
  });

  test('begins anew where they go to the sessions by the navigation', async () => {
    const server = await testServer();
    await sessions(server, named('s', 60));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('link', { name: 's-0', exact: true }).click();
    await tab.heading('s-0');
    await page.getByRole('navigation').getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    expect(await page.evaluate('[scrollY, document.activeElement.tagName]')).toEqual([0, 'MAIN']);
  });

  test('stays where they go to while the service is slow', async () => {
    const { page, answer } = await backToSlowSessions();
    await page.getByLabel('Agent').fill('even');
    answer();
    await page.getByRole('link', { name: 's-1', exact: true }).waitFor();
    expect(await page.evaluate('[scrollY, document.activeElement.name]')).toEqual([0, 'agent']);
  });

  test('finds their place though they had gone on once more before it was drawn', async () => {
    const { tab, page, answer } = await backToSlowSessions();
    await page.goForward();
    await tab.heading('s-1');
    answer();
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe('s-1');
  });

  test('to a row that is far behind by now is not waited for through the whole list', async () => {
    const server = await testServer();
    await sessions(server, named('s', 1));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.getByRole('link', { name: 's-0', exact: true }).click();
    await tab.heading('s-0');
    await sessions(server, named('new', 350), Date.now() - 600_000);
    let asked = 0;
    page.on('request', (request) => {
      if (/\/v1\/sessions(\?|$)/.test(request.url())) asked += 1;
    });
    await page.goBack();
    await page.getByRole('link', { name: 'new-349', exact: true }).waitFor();
    expect(asked).toBe(6);
  });

  test('to agents finds the one whose sessions they read', async () => {
    const server = await testServer();
    for (const agentId of named('a', 60)) await server.record({ agentId, sessionId: `of-${agentId}` });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/agents');
    const { page } = tab;
    await page.getByRole('button', { name: 'Show more' }).click();
    const last = page.getByRole('rowheader').nth(55).getByRole('link');
    const name = String(await last.textContent());
    await last.click();
    await page.getByRole('link', { name: `of-${name}`, exact: true }).waitFor();
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe(name);
  });

  test('to policies finds the one that they read', async () => {
    const server = await testServer();
    for (const name of named('p', 60)) await server.policy({ name });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/policies');
    const { page } = tab;
    await page.getByRole('button', { name: 'Show more' }).click();
    const last = page.getByRole('rowheader').nth(55).getByRole('link');
    const name = String(await last.textContent());
    await last.click();
    await tab.heading(name);
    const top = 'Math.round(document.activeElement.getBoundingClientRect().top)';
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe(name);
    expect(await page.evaluate(`scrollY > 0 && ${top} >= 0 && ${top} < innerHeight`)).toBe(true);
  });

  test('to held actions finds the one whose session they read, and their place where it is decided', async () => {
    const server = await testServer();
    await server.policy({ effect: 'require_approval' });
    for (const actionId of named('call', 8)) {
      const action = { ...checkBody().action, toolName: actionId };
      await server.check({ actionId, action, sessionId: 'thread-1' });
    }
    await server.record({ sessionId: 'thread-1' });
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const { page } = tab;
    const card = page.getByRole('article').filter({ hasText: 'call-2' });
    await card.getByRole('link', { name: 'thread-1' }).click();
    await tab.heading('thread-1');
    await page.goBack();
    const held = 'document.activeElement.closest("article")?.querySelector("code").textContent';
    await expect.poll(() => page.evaluate(held)).toBe('call-2');
    const before = await page.evaluate('scrollY');
    expect(before).toBeGreaterThan(0);
    await card.getByRole('link', { name: 'thread-1' }).click();
    await tab.heading('thread-1');
    const { items } = await server.ok('guardian.pendingActions.list');
    const id = String(items.find(({ action }) => action?.toolName === 'call-2')?.id);
    await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
    await page.goBack();
    await expect.poll(() => page.evaluate('scrollY')).toBe(before);
    await expect.poll(() => page.getByRole('article').count()).toBe(7);
  });
});
