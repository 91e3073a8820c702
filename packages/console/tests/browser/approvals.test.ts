import { describe, expect, test } from 'vitest';
import { checkBody } from '../../../server/tests/test-server.ts';
import { ConsoleServer } from './console-server.ts';
import { ConsoleTab } from './console-tab.ts';

const hostile = '</pre><script>alert(1)</script>';

/** The held action; an approval applies to exactly its displayed arguments. */
const action = { ...checkBody().action, arguments: { amount: 250, note: hostile } };

/** Checks the action so that it is held, and returns the id of the pending action. */
async function hold(server: ConsoleServer, actionId: string): Promise<string> {
  return (await server.check({ actionId, action })).pendingActionId as string;
}

/** Checks actions at once, so that they are held in any order. */
async function holdMany(server: ConsoleServer, name: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, number) => hold(server, `${name}-${number}`)));
}

async function holding(): Promise<ConsoleServer> {
  const server = await ConsoleServer.create();
  await server.policy({ effect: 'require_approval', message: 'Refunds need a person' });
  return server;
}

describe('approvals page', () => {
  test('shows the requested action, and approves it', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey);
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).click();
    const card = page.getByRole('article');
    await expect.poll(() => card.textContent()).toContain('Refunds need a person');
    await expect.poll(() => card.textContent()).toContain(hostile);
    await card.getByLabel('Comment').fill('Fine by me');
    await card.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').getByText('refund by billing-agent: approved.').waitFor();
    expect(await server.check({ actionId: 'call-1', action })).toMatchObject({
      decision: 'allow',
      comment: 'Fine by me',
    });
    await page.getByText('Nothing is waiting.').waitFor();
    await page.getByRole('link', { name: 'approved', exact: true }).click();
    await page.getByRole('article').getByText('“Fine by me”').waitFor();
  });

  test('updates the count at once after a decision', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { page } = await ConsoleTab.blank(server.server.url);
    await page.clock.install();
    await page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).click();
    await page.getByRole('article').waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    const approve = page.getByRole('button', { name: 'Approve', disabled: false });
    // It can be pressed a moment after each response, by a clock that stands still.
    await expect.poll(() => page.clock.runFor(1000).then(() => approve.isVisible())).toBe(true);
    await approve.click();
    await page.getByText('Nothing is waiting.').waitFor();
    await page.getByRole('link', { name: 'Approvals', exact: true }).waitFor();
  });

  test('denies an action, which then does not run', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('status').getByText('denied').waitFor();
    expect(await server.check({ actionId: 'call-1', action })).toMatchObject({ decision: 'deny' });
  });

  test('shows the decision of a faster approver', async () => {
    const server = await holding();
    const id = await hold(server, 'call-1');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    // The page does not see the other decision, because its automatic requests are delayed.
    await page.getByRole('article').waitFor();
    await page.route('**/v1/guardian/pending-actions?*', (route) => route.abort());
    await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page
      .getByRole('status')
      .getByText(/denied/)
      .waitFor();
    expect(await server.check({ actionId: 'call-1', action })).toMatchObject({ decision: 'deny' });
  });

  test('ignores a press on an action that moved under the pointer', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const tab = await ConsoleTab.blank(server.server.url);
    const { page } = tab;
    await page.clock.install();
    await page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await tab.heading('Overview');
    await tab.go('/approvals');
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.click({ trial: true });
    const { x, y } = (await approve.boundingBox()) ?? { x: 0, y: 0 };
    await page.clock.pauseAt(Date.now() + 60_000);
    await hold(server, 'call-2');
    // Refreshes the list while the page's clock stands still.
    const refresh = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await expect.poll(() => refresh().then(() => page.getByRole('article').count())).toBe(2);
    const decisions: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && decisions.push(request.url()));
    await page.mouse.click(x + 5, y + 5, { clickCount: 2 });
    await page.clock.runFor(3000);
    expect(decisions).toEqual([]);
    await page.mouse.click(x + 5, y + 5);
    await page.clock.runFor(100);
    await page.getByRole('status').getByText('approved').waitFor();
    expect((await server.ok('guardian.pendingActions.list')).items).toMatchObject([{ status: 'pending' }]);
  });

  test('reports an action that was decided elsewhere, instead of the previous decision', async () => {
    const server = await holding();
    const id = await hold(server, 'call-1');
    await hold(server, 'call-2');
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const { page } = tab;
    const cards = page.getByRole('article');
    await cards.first().getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').getByText('approved').waitFor();
    await cards.nth(1).waitFor({ state: 'detached' });
    await cards.getByLabel('Comment').fill('Not this one');
    await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
    await tab.refreshUntil(page.getByText('Nothing is waiting.'));
    await expect
      .poll(() => page.getByRole('status').textContent())
      .toBe('refund by billing-agent is no longer pending: it was decided elsewhere or has expired.');
  });

  test('supports decisions by keyboard, and keeps the position in the list', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    await hold(server, 'call-2');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.first().click({ trial: true });
    await approve.first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('approved').waitFor();
    await approve.nth(1).waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.role')).toBe('status');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("article") !== null')).toBe(true);
  });

  test('keeps typed text while new actions arrive', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const { page } = tab;
    await page.getByLabel('Comment').fill('half a thou');
    await hold(server, 'call-2');
    await tab.refreshUntil(page.getByRole('article').nth(1));
    await expect.poll(() => page.getByLabel('Comment').nth(1).inputValue()).toBe('half a thou');
  });

  test('shows held actions in their session, too', async () => {
    const server = await holding();
    await server.record({ sessionId: 'thread-1' });
    await hold(server, 'call-1');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/thread-1');
    await page.getByRole('heading', { name: 'Waiting for approval' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').getByText('approved').waitFor();
  });

  test('offers no decision to a key without the scope', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { apiKey } = await server.server.admin.keys.create(server.tenant, {
      name: 'reader',
      scopes: ['read'],
    });
    const { page } = await ConsoleTab.open(server.server.url, apiKey, '/approvals');
    await page.getByText('sign in with a key that has the scope “decide”').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
  });

  test('shows all held actions of a session, however many', async () => {
    const server = await holding();
    await server.record({ sessionId: 'thread-1' });
    await holdMany(server, 'call', 51);
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/sessions/thread-1');
    await page.getByRole('article').nth(49).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('article').nth(50).waitFor();
  });

  test('keeps actions with typed text on the page while new ones arrive', async () => {
    const server = await holding();
    const id = await hold(server, 'call');
    await holdMany(server, 'before', 49);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    const { page } = tab;
    const card = page.locator(`[id="action-${id}"]`);
    await card.getByLabel('Comment').fill('half a thou');
    // Enough that it would be on a later page.
    await holdMany(server, 'after', 60);
    await tab.refreshUntil(page.getByRole('article').nth(109));
    await expect.poll(() => card.getByLabel('Comment').inputValue()).toBe('half a thou');
    await card.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').getByText('approved').waitFor();
  });

  test('keeps typed text across a new sign-in', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { admin, url } = server.server;
    const { apiKey, key } = await admin.keys.create(server.tenant, { name: 'on duty' });
    const { page } = await ConsoleTab.open(url, apiKey, '/approvals');
    await page.getByLabel('Comment').fill('half a thou');
    await admin.keys.revoke(server.tenant, key.id);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByLabel('API key').fill(server.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
    await expect.poll(() => page.getByLabel('Comment').inputValue()).toBe('half a thou');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('status').getByText('denied').waitFor();
  });

  test('shows remaining time by the clock of the service, not by a wrong local one', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { page } = await ConsoleTab.blank(server.server.url);
    await page.clock.install({ time: Date.now() + 3_600_000 });
    await page.goto(`${server.server.url}/console/#key=${server.apiKey}`);
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).click();
    await page.getByRole('article').getByText('in 14 min').waitFor();
  });

  test('says that a decision may have been stored when no response arrived', async () => {
    const server = await holding();
    await hold(server, 'call-1');
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, '/approvals');
    await page.getByRole('button', { name: 'Approve', disabled: false }).waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    await page.clock.install();
    await page.getByRole('button', { name: 'Approve' }).click();
    // The client waits before it tries again, and the page before it reloads, by a clock that the test controls.
    for (const text of ['may or may not have been processed', 'The service cannot be reached.']) {
      await expect
        .poll(async () => {
          await page.clock.runFor(1000);
          return page.getByRole('alert').getByText(text).isVisible();
        })
        .toBe(true);
    }
  });
});
