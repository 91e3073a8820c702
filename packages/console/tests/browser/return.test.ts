import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { checkBody } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Records sessions of one call each, one second apart, alternating between two agents. */
async function sessions(server: ConsoleServer, ids: readonly string[], fromMs = Date.now() - 3_600_000) {
  await server.recordMany(
    ids.map((sessionId, index) => ({
      sessionId,
      agentId: index % 2 === 0 ? 'even' : 'odd',
      sourceTimestamp: new Date(fromMs + 1000 * index).toISOString(),
    })),
  );
}

/** Returns the names `prefix-0`, `prefix-1`, … */
function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}-${number}`);
}

/** Returns the pixels from the top of the window to the link with this name. */
async function topOf(page: Page, name: string): Promise<number> {
  const box = await page.getByRole('link', { name, exact: true }).boundingBox();
  return Math.round(box?.y ?? Number.NaN);
}

/** Compares with a tolerance, because browsers scroll by whole pixels and rows start between them. */
function isNear(expected: number): (pixels: number) => boolean {
  return (pixels) => Math.abs(pixels - expected) <= 1;
}

/** Opens a tab that has returned from a session to the list, whose response the test delays. */
async function backToSlowSessions() {
  const server = await ConsoleServer.create();
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
  return { tab, page, respond: late.resolve };
}

const focused = 'document.activeElement.textContent';

describe('returning users', () => {
  test('find the same rows at the same position in sessions, with the focus on the last one', async () => {
    const server = await ConsoleServer.create();
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
    // Enough that the row would be on a later page.
    await sessions(server, named('new', 30), Date.now() - 60_000);
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe('s-20');
    expect(await topOf(page, 's-20')).toSatisfy(isNear(top));
    await expect.poll(() => link('s-10').count()).toBe(1);
    await link('new-29').waitFor();
    await page.goForward();
    await tab.heading('s-20');
    await page.getByRole('link', { name: 'Sessions' }).last().click();
    await expect.poll(() => page.evaluate(focused)).toBe('s-20');
    expect(await topOf(page, 's-20')).toSatisfy(isNear(top));
  });

  test('find filtered sessions, also by the link above the session', async () => {
    const server = await ConsoleServer.create();
    await sessions(server, named('s', 4));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions?agent=odd');
    const { page } = tab;
    await page.getByRole('link', { name: 's-1' }).click();
    await tab.heading('s-1');
    await page.reload();
    await tab.heading('s-1');
    const back = page.locator('main').getByRole('link', { name: 'Sessions' });
    await expect.poll(() => back.getAttribute('href')).toBe('#/sessions?agent=odd');
    await back.click();
    await page.getByRole('link', { name: 's-3' }).waitFor();
    expect(await page.getByRole('link', { name: 's-2' }).count()).toBe(0);
    // There is nothing to go forward to: the page went back.
    await page.goForward();
    await tab.heading('s-1');
  });

  test('start at the top when they use the navigation', async () => {
    const server = await ConsoleServer.create();
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

  test('stay on the page they go to while the service is slow', async () => {
    const { page, respond } = await backToSlowSessions();
    await page.getByLabel('Agent').fill('even');
    respond();
    await page.getByRole('link', { name: 's-1', exact: true }).waitFor();
    expect(await page.evaluate('[scrollY, document.activeElement.name]')).toEqual([0, 'agent']);
  });

  test('find their position even if they went on before it was rendered', async () => {
    const { tab, page, respond } = await backToSlowSessions();
    await page.goForward();
    await tab.heading('s-1');
    respond();
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe('s-1');
  });

  test('do not wait for the whole list when their row is far down by now', async () => {
    const server = await ConsoleServer.create();
    await sessions(server, named('s', 1));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey);
    const { page } = tab;
    await page.getByRole('link', { name: 's-0', exact: true }).click();
    await tab.heading('s-0');
    await sessions(server, named('new', 350), Date.now() - 600_000);
    let requested = 0;
    page.on('request', (request) => {
      if (/\/v1\/sessions(\?|$)/.test(request.url())) requested += 1;
    });
    await page.goBack();
    await page.getByRole('link', { name: 'new-349', exact: true }).waitFor();
    expect(requested).toBe(6);
  });

  test('find the agent whose sessions they read', async () => {
    const server = await ConsoleServer.create();
    await server.recordMany(named('a', 60).map((agentId) => ({ agentId, sessionId: `of-${agentId}` })));
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/agents');
    const { page } = tab;
    await page.getByRole('button', { name: 'Show more' }).click();
    const last = page.getByRole('rowheader').nth(55).getByRole('link');
    const name = String(await last.textContent());
    await last.click();
    await page
      .getByRole('link', { name: `of-${name}`, exact: true })
      .first()
      .waitFor();
    await page.goBack();
    await expect.poll(() => page.evaluate(focused)).toBe(name);
  });

  test('find the policy that they read', async () => {
    const server = await ConsoleServer.create();
    await Promise.all(named('p', 60).map((name) => server.policy({ name })));
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

  test('find the held action whose session they read, or its position if it is decided', async () => {
    const server = await ConsoleServer.create();
    await server.policy({ effect: 'require_approval', name: 'Ask' });
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
    // Names of policies and risks come later, and change the height of the cards.
    await expect.poll(() => page.getByRole('link', { name: 'Ask' }).count()).toBe(8);
    await expect.poll(() => page.getByText('Risk of the session').count()).toBe(8);
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
