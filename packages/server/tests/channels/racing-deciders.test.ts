import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { SignedIn, signInSetup } from '../sign-in/sign-in-setup.ts';
import { testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { addChannel } from './channel-tools.ts';
import { LoopbackSlack, slackChannelId } from './loopback-slack.ts';

const rounds = 4;

/** Starts two servers on one database, with separate connections, like two processes. */
async function deployment() {
  const slack = await LoopbackSlack.start();
  slack.members.set('UGRACE', { email: 'grace@example.com' });
  const folder = mkdtempSync(join(tmpdir(), 'actlog-channels-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'data.db');
  const setup = await signInSetup({
    ...slack.settings,
    database,
    secret: testSecret,
    apiKey: newApiKey('test'),
  });
  const { port: _port, ...shared } = setup.settings;
  return { slack, setup, one: setup.server, two: await testServer(shared) };
}

test('of a click in Slack, the console and the command, one decides and the others are told', async () => {
  const { slack, setup, one, two } = await deployment();
  const grace = await SignedIn.as('grace', setup.url);
  const ada = await SignedIn.as('ada', setup.url);
  expect(grace).toBeDefined();
  await addChannel(one, { kind: 'slack', settings: { channel: slackChannelId } });
  await one.policy({ effect: 'require_approval' });
  for (let round = 0; round < rounds; round += 1) {
    const action = { toolName: 'refund', argumentsHash: `sha256:${round}` };
    const { pendingActionId: id } = await one.check({
      actionId: `call-${round}`,
      sessionId: `thread-${round}`,
      action,
    });
    await slack.called('chat.postMessage', round + 1);
    const told = slack.calls.filter(({ method }) => method === 'chat.postEphemeral').length;
    const { body, headers } = await slack.click({ user: 'UGRACE', button: 'actlog_deny' });
    const place = `/v1/guardian/pending-actions/${id}/decide`;
    const [click, console, command] = await Promise.all([
      fetch(`${two.server.url}/server/v1/channels/slack/interactions`, { method: 'POST', headers, body }),
      ada.status('POST', place, { decision: 'approve' }),
      fetch(`${two.server.url}${place}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${two.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'approve' }),
      }).then(({ status }) => status),
    ]);
    expect(click.status).toBe(200);
    const explained = slack.calls.filter(({ method }) => method === 'chat.postEphemeral').length - told;
    const { items: denied } = await one.ok('guardian.pendingActions.list', { query: { status: 'denied' } });
    if (denied.some((item) => item.id === id)) {
      // Both approvals get an error: the denial is final.
      expect([console, command, explained]).toEqual([409, 409, 0]);
    } else {
      // Approvals agree with each other, and the denial is explained.
      expect([console, command, explained]).toEqual([200, 200, 1]);
    }
    const updates = await slack.called('chat.update', round + 1);
    expect(updates).toHaveLength(round + 1);
    const { items: approved } = await one.ok('guardian.pendingActions.list', {
      query: { status: 'approved' },
    });
    expect([...approved, ...denied].filter((item) => item.id === id)).toHaveLength(1);
  }
});

test('shows a decision that falls while the card is being posted', async () => {
  const { slack, one, two } = await deployment();
  await addChannel(one, { kind: 'slack', settings: { channel: slackChannelId } });
  await one.policy({ effect: 'require_approval' });
  let id: string | undefined;
  slack.beforeResponse = async ({ method }) => {
    if (method !== 'chat.postMessage') return;
    await expect.poll(() => id).toBeDefined();
    await two.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  };
  id = (await one.check({ actionId: 'call-1' })).pendingActionId as string;
  const [update] = await slack.called('chat.update');
  expect(slack.shown(update)).toContain('Approved by key_');
});

test('updates a card that a server posted just before it crashed, when someone clicks on it', async () => {
  const { slack, setup, one } = await deployment();
  await SignedIn.as('grace', setup.url);
  await addChannel(one, { kind: 'slack', settings: { channel: slackChannelId } });
  await one.policy({ effect: 'require_approval' });
  await one.check({ actionId: 'call-1' });
  await slack.called('chat.postMessage');
  const { body, headers } = await slack.click({ user: 'UGRACE', ts: '1600000000.000009' });
  await fetch(`${one.server.url}/server/v1/channels/slack/interactions`, { method: 'POST', headers, body });
  const updates = await slack.called('chat.update', 2);
  expect(updates.map(({ fields }) => fields.ts).sort()).toEqual(['1600000000.000009', '1700000000.000001']);
});
