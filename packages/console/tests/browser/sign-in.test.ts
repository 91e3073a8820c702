import { describe, expect, test } from 'vitest';
import { freePort } from '../../../server/tests/free-port.ts';
import {
  roles,
  SignedIn,
  type SignInSetup,
  signInSetup,
} from '../../../server/tests/sign-in/sign-in-setup.ts';
import { testServer } from '../../../server/tests/test-server.ts';
import { ConsoleTab } from './console-tab.ts';

/** Starts a server and a provider that are two sites for the browser, and opens the sign-in page at a place. */
async function atSignIn(place = '#/approvals') {
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const setup = await signInSetup({ publicUrl, port, oidcLabel: 'Example' });
  const tab = await ConsoleTab.blank(publicUrl);
  tab.allow(setup.provider.issuer);
  await tab.page.goto(`${publicUrl}/console/${place}`);
  await tab.heading('actlog');
  return { ...setup, tab, page: tab.page };
}

type AtSignIn = Awaited<ReturnType<typeof atSignIn>>;

/** Signs in with the provider, up to the page that it leads back to. */
async function signIn({ page }: AtSignIn, account: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.getByRole('button', { name: `Continue as ${account}` }).click();
}

async function hold({ server }: SignInSetup): Promise<void> {
  await server.policy({ effect: 'require_approval', name: 'Refunds' });
  await server.check({ actionId: 'call-1' });
}

describe('people who sign in with a provider', () => {
  test('return to the place that they came for, decide under their name, and sign out', async () => {
    const setup = await atSignIn();
    const { tab, page, url } = setup;
    await hold(setup);
    expect(await tab.accessibilityFaults()).toEqual([]);
    await signIn(setup, 'grace');
    await tab.heading('Approvals');
    expect(page.url()).toBe(`${url}/console/#/approvals`);
    const header = page.getByRole('banner');
    await header.getByText('grace@example.com').waitFor();
    await header.getByText('approver', { exact: true }).waitFor();
    expect(await header.getByRole('link', { name: 'Keys' }).count()).toBe(0);
    expect(await tab.accessibilityFaults()).toEqual([]);
    // No script can read the cookie, and there is no key in the tab.
    expect(await page.evaluate('document.cookie + JSON.stringify(sessionStorage)')).toBe('{}');

    const button = page.getByRole('button', { name: 'Approve' });
    await expect.poll(() => button.getAttribute('aria-disabled')).not.toBe('true');
    await button.click();
    await page.getByText('Nothing waits').or(page.getByText('Approved')).first().waitFor();
    await tab.go('/approvals?status=approved');
    await page.getByRole('article').getByText('grace@example.com', { exact: true }).waitFor();

    await page.reload();
    await tab.heading('Approvals');
    await header.getByRole('button', { name: 'Sign out' }).click();
    // The provider asks, and leads back.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await tab.heading('actlog');
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401);
    expect((await page.context().cookies(url)).map(({ name }) => name)).not.toContain('actlog-sign-in');
  });

  test('are not offered what their role does not permit', async () => {
    const setup = await atSignIn();
    const { tab, page } = setup;
    await hold(setup);
    await signIn(setup, 'alan');
    await page.getByText('Your role (viewer) cannot decide.').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await tab.go('/webhooks');
    await tab.heading('Webhooks');
    expect(await page.getByLabel('Address').count()).toBe(0);
    await tab.go('/policies');
    await tab.heading('Policies');
    expect(await page.getByRole('button', { name: 'Try' }).count()).toBe(0);
  });

  test('create keys under their name as admins', async () => {
    const setup = await atSignIn('#/keys');
    const { tab, page } = setup;
    await signIn(setup, 'ada');
    await tab.heading('Keys');
    await page.getByLabel('Name').fill('Billing');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('listitem', { name: 'Billing' }).getByText('by ada@example.com').waitFor();
  });

  test('see who is signed in as admins, and sign others out', async () => {
    const setup = await atSignIn('#/keys');
    const { tab, page, url } = setup;
    const alan = await SignedIn.as('alan', url);
    await signIn(setup, 'ada');
    await tab.heading('Keys');
    await page.getByRole('row', { name: /ada@example\.com you admin/ }).waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    const row = page.getByRole('row', { name: /alan@example\.com viewer/ });
    await row.getByRole('button', { name: 'End' }).click();
    await row.getByRole('button', { name: 'Sign alan@example.com out' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await alan.status('GET', '/v1/sessions')).toBe(401);
  });

  test('see why they have no access, and can choose another account', async () => {
    const setup = await atSignIn();
    const { tab, page } = setup;
    await signIn(setup, 'eve');
    await tab.heading('You have no access to this server');
    await page.getByText('eve@example.com').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('link', { name: 'Sign in with another account' }).click();
    await page.getByRole('button', { name: 'Continue as grace' }).waitFor();
  });

  test('sign in again when their sign-in has ended', async () => {
    const setup = await atSignIn('#/sessions');
    const { tab, page, url } = setup;
    await signIn(setup, 'ada');
    await tab.heading('Sessions');
    const [cookie] = (await page.context().cookies(url)).filter(({ name }) => name === 'actlog-sign-in');
    await page.context().clearCookies({ name: 'actlog-sign-in' });
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', secure: false });
    await tab.go('/agents');
    await page.getByText('You are signed out. Sign in again to continue.').waitFor();
    await page.getByRole('link', { name: 'Sign in with Example' }).click();
    // The provider still knows them.
    await tab.heading('Agents');
  });

  test('find their input again when they have signed in in another tab', async () => {
    const setup = await atSignIn('#/policies/new');
    const { tab, page, url } = setup;
    await signIn(setup, 'ada');
    await tab.heading('New policy');
    await page.getByLabel('Tools').fill('refund');
    await page.getByText('Description and priority').click();
    await page.getByLabel('Description').fill('not saved yet');
    await page.getByLabel('Name').fill('Refunds');
    await page.context().clearCookies({ name: 'actlog-sign-in' });
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('You are signed out. Sign in again to continue.').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${url}/console/sign-in`);
    await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await tab.heading('New policy');
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('not saved yet');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Refunds').first().waitFor();
    await expect.poll(async () => (await setup.server.ok('policies.list')).items.length).toBe(1);
  });

  test('can use a key instead', async () => {
    const { tab, page, server } = await atSignIn('#/sessions');
    await page.getByText('Sign in with an API key').click();
    await page.getByLabel('API key').fill(server.apiKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await tab.heading('Sessions');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  });

  test('keep their sign-in when they open a link with a key, unless they accept the key', async () => {
    const setup = await atSignIn('#/sessions');
    const { tab, page, url, server } = setup;
    await signIn(setup, 'alan');
    await tab.heading('Sessions');
    await page.goto(`${url}/console/#key=${server.apiKey}`);
    await page.getByText('You are already signed in (alan@example.com, default)').waitFor();
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.getByRole('banner').getByText('alan@example.com').waitFor();
  });
});

describe('people whom a proxy signs in', () => {
  const options = {
    publicUrl: 'https://actlog.example',
    principalHeader: 'x-forwarded-user',
    groupsHeader: 'x-forwarded-groups',
    trustedProxies: ['127.0.0.0/8'],
    roles,
  };

  test('see the console at once, and cannot sign out here', async () => {
    const { server } = await testServer(options);
    const tab = await ConsoleTab.blank(server.url, {
      extraHTTPHeaders: { 'x-forwarded-user': 'ada', 'x-forwarded-groups': 'staff' },
    });
    await tab.page.goto(`${server.url}/console/#/sessions`);
    await tab.heading('Sessions');
    const header = tab.page.getByRole('banner');
    await header.getByText('viewer', { exact: true }).waitFor();
    expect(await header.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });

  test('read what to do when they have no role', async () => {
    const { server } = await testServer(options);
    const tab = await ConsoleTab.blank(server.url, { extraHTTPHeaders: { 'x-forwarded-user': 'eve' } });
    await tab.page.goto(`${server.url}/console/`);
    await tab.page.getByText('You are signed in as eve, but you have no role on this server.').waitFor();
    await tab.page.getByLabel('API key').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
  });
});
