import { describe, expect, test } from 'vitest';
import { addChannel, route } from '../../../server/tests/channels/channel-tools.ts';
import { LoopbackSlack, slackChannelId } from '../../../server/tests/channels/loopback-slack.ts';
import { signInSetup } from '../../../server/tests/sign-in/sign-in-setup.ts';
import { testServer } from '../../../server/tests/test-server.ts';
import { ConsoleTab } from './console-tab.ts';

describe('channels page', () => {
  test('adds a Slack channel, tests, mutes and removes it', async () => {
    const slack = await LoopbackSlack.start();
    const server = await testServer(slack.settings);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/channels');
    const { page } = tab;
    await page.getByText('No channel yet.').waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill('On call');
    await page.getByLabel('Id of the Slack channel').fill(slackChannelId);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('status').getByText('On call was added.').waitFor();
    await page.getByRole('button', { name: 'Send a test message to On call' }).click();
    const [message] = await slack.called('chat.postMessage');
    expect(message?.fields.text).toContain('actlog can send to this channel (On call)');
    await page.getByRole('button', { name: 'Mute for an hour On call' }).click();
    await page.getByText('muted', { exact: true }).waitFor();
    expect(await tab.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Remove On call with its log' }).click();
    await page.getByText('No channel yet.').waitFor();
  });

  test('says what the operator has to set, and adds rules of alerts', async () => {
    const server = await testServer();
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/channels');
    const { page } = tab;
    await page.getByText('ACTLOG_SLACK_BOT_TOKEN').waitFor();
    await page.getByLabel('Name of the rule').fill('Many denials');
    await page.getByLabel('From this number of calls').fill('5');
    await page.getByRole('button', { name: 'Add the rule' }).click();
    await page.getByText('Calls are denied · 5 times within 60 minutes').waitFor();
  });

  test('shows a channel whose messages do not arrive on the first page', async () => {
    const server = await testServer({
      publicUrl: 'https://actlog.example.com',
      webhookAllowedRanges: ['127.0.0.0/8'],
    });
    await server.record({ sessionId: 'any' });
    const settings = { url: 'http://127.0.0.1:9/workflows/a?sig=b' };
    const id = await addChannel(server, { kind: 'teams', name: 'Security on call', settings });
    await route(server, 'POST', `/channels/${id}/test`);
    const tab = await ConsoleTab.open(server.server.url, server.apiKey, '/');
    const failing = tab.page.getByRole('region', { name: 'Failing channels' });
    await tab.refreshUntil(failing.getByText('fails since'));
    expect(await failing.getByRole('listitem').textContent()).toMatch(/^Security on call Teams fails since/);
    expect(await tab.accessibilityFaults()).toEqual([]);
    await failing.getByRole('link', { name: 'Security on call' }).click();
    await tab.heading('Channels');
  });

  test('opens the very action that a mail links to', async () => {
    const server = await testServer();
    await server.policy({ effect: 'require_approval' });
    await server.check({ actionId: 'call-1', action: { toolName: 'other', argumentsHash: 'sha256:bb' } });
    const { pendingActionId: id } = await server.check({ actionId: 'call-2' });
    const { page } = await ConsoleTab.open(server.server.url, server.apiKey, `/approvals/${id}`);
    await page.getByRole('heading', { name: 'refund by billing-agent' }).waitFor();
    await expect.poll(() => page.getByRole('article').count()).toBe(1);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('approved', { exact: true }).waitFor();
  });
});

describe('the service worker', () => {
  test('is registered under the policy of the page, and shows a pushed notification', async () => {
    const setup = await signInSetup();
    const tab = await ConsoleTab.blank(setup.url);
    const { page } = tab;
    const response = await page.goto(`${setup.url}/console/service-worker.js`);
    expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
    await page.goto(`${setup.url}/console/`);
    const manifest = await page.evaluate(async () => (await fetch('actlog.webmanifest')).json());
    expect(manifest).toMatchObject({ name: 'actlog', display: 'standalone' });
    const scope = await page.evaluate<string>(`(async () => {
      const policy = globalThis.trustedTypes?.createPolicy('test', { createScriptURL: () => 'service-worker.js' });
      await navigator.serviceWorker.register(policy?.createScriptURL('') ?? 'service-worker.js');
      return (await navigator.serviceWorker.ready).scope;
    })()`);
    expect(scope).toBe(`${setup.url}/console/`);
    const session = await page.context().newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const own = registrations.find(({ scopeURL }) => scopeURL === scope);
        if (own) resolve(own.registrationId);
      });
    });
    const [worker] = page.context().serviceWorkers();
    // A browser without a screen shows no notification, so the worker is asked what it shows.
    await worker?.evaluate(() => {
      const scope = globalThis as unknown as {
        registration: { showNotification: unknown };
        shown: unknown[];
      };
      scope.shown = [];
      scope.registration.showNotification = async (title: string, options: object) => {
        scope.shown.push({ title, ...options });
      };
    });
    await session.send('ServiceWorker.enable');
    const url = `${setup.url}/console/#/approvals/pac_1`;
    const deliver = async (data: string) =>
      session.send('ServiceWorker.deliverPushMessage', {
        origin: setup.url,
        registrationId: await registered,
        data,
      });
    await deliver(JSON.stringify({ title: 'Held: refund', body: 'Waits.', url, tag: 'pac_1' }));
    const shown = () => worker?.evaluate(() => (globalThis as unknown as { shown: unknown[] }).shown);
    const icon = `${setup.url}/console/icon.svg`;
    const notice = { title: 'Held: refund', body: 'Waits.', icon, tag: 'pac_1', data: url };
    await expect.poll(shown).toEqual([notice]);
    // One that cannot be read is still shown, because browsers require that.
    await deliver('not JSON');
    await expect.poll(shown).toEqual([notice, { title: 'actlog', body: '', icon, data: null }]);
    // The page still loads as before.
    await page.reload();
    await page.getByRole('heading', { name: 'actlog' }).waitFor();
  });
});
