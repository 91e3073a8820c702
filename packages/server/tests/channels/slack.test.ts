import { beforeEach, describe, expect, test } from 'vitest';
import { SignedIn, type SignInSetup, signInSetup } from '../sign-in/sign-in-setup.ts';
import type { TestServer } from '../test-server.ts';
import { addChannel, route } from './channel-tools.ts';
import { type ClickOptions, LoopbackSlack, slackApp, slackChannelId } from './loopback-slack.ts';

const path = '/server/v1/channels/slack/interactions';

let slack: LoopbackSlack;
let setup: SignInSetup;
let server: TestServer;

beforeEach(async () => {
  slack = await LoopbackSlack.start();
  setup = await signInSetup(slack.settings);
  server = setup.server;
  slack.members.set('UGRACE', { email: 'Grace@Example.com' });
  slack.members.set('UADA', { email: 'ada@example.com' });
  slack.members.set('UALAN', { email: 'alan@example.com' });
});

function api(method: string, place: string, body?: unknown) {
  return route(server, method, place, body);
}

function slackChannel(rules: object = {}): Promise<string> {
  return addChannel(server, { kind: 'slack', settings: { channel: slackChannelId }, rules });
}

/** Holds an action, and resolves when its card is posted. */
async function hold(approval: object = {}, fields: object = {}): Promise<string> {
  const rules = { timeoutSeconds: 900, onTimeout: 'deny', ...approval } as const;
  await server.policy({ name: 'Refunds need a person', effect: 'require_approval', approval: rules });
  const { pendingActionId } = await server.check({ actionId: 'call-1', ...fields });
  await slack.called('chat.postMessage');
  return pendingActionId as string;
}

async function click(options: ClickOptions, to: TestServer = server): Promise<Response> {
  const request = await slack.click(options);
  return send(request, to);
}

function send(
  { body, headers }: { readonly body: string; readonly headers: Record<string, string> },
  to: TestServer = server,
): Promise<Response> {
  return fetch(`${to.server.url}${path}`, { method: 'POST', headers, body });
}

async function statusOf(id: string): Promise<string> {
  const statuses = ['pending', 'approved', 'denied', 'expired', 'withdrawn'] as const;
  for (const status of statuses) {
    const { items } = await server.ok('guardian.pendingActions.list', { query: { status } });
    if (items.some((item) => item.id === id)) return status;
  }
  return 'none';
}

test('shows in a card exactly what an approval binds', async () => {
  await slackChannel();
  await hold(
    { requiredApprovers: 2, notRequester: true, singleUse: true },
    {
      principal: 'lin@example.com',
      subagent: 'code-reviewer',
      parentAgentIds: ['triage'],
      action: {
        toolName: 'refund',
        argumentsHash: 'sha256:aa',
        arguments: { amount: 900, note: '<!channel> *now*', account: 7 },
        origins: { amount: { from: 'user' }, note: { from: 'tool', as: 'text', toolName: 'read_mail' } },
      },
    },
  );
  const [card] = await slack.called('chat.postMessage');
  expect(card?.authorization).toBe('Bearer xoxb-loopback-token');
  const shown = slack.shown(card);
  for (const text of [
    'refund',
    'billing-agent · code-reviewer, inside triage',
    'lin@example.com',
    'Refunds need a person',
    'sha256:aa',
    '\\"amount\\": 900',
    'amount: from what the user said',
    'note: from the text that read_mail returned',
    '0 of 2 approvals',
    'The requester cannot approve.',
    'The approval is for one call.',
    'and is then denied',
    'has no risk score yet',
  ]) {
    expect(shown).toContain(text);
  }
  // Arguments are plain text, in which Slack finds no mention.
  expect(card?.fields.text).not.toContain('<!channel>');
  expect(slack.buttons(card).map(({ action_id: id }) => id)).toEqual([
    'actlog_approve',
    'actlog_deny',
    'actlog_deny_reason',
  ]);
});

test('links the trace of a call in the card', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const traceUrl = 'https://jaeger.example.com/trace/{traceId}?span={spanId}';
  setup = await signInSetup({ ...slack.settings, traceUrl });
  server = setup.server;
  await slackChannel();
  await server.policy({ effect: 'require_approval' });
  await server.check({}, { 'x-actlog-traceparent': traceparent });
  const [card] = await slack.called('chat.postMessage');
  const link = {
    type: 'link',
    url: 'https://jaeger.example.com/trace/4bf92f3577b34da6a3ce929d0e0e4736?span=00f067aa0ba902b7',
    text: '4bf92f3577b34da6a3ce929d0e0e4736',
  };
  expect(slack.shown(card)).toContain(JSON.stringify(link));
});

test('decides as the person whose confirmed address Slack names, and shows that in the card', async () => {
  const grace = await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold();
  expect((await click({ user: 'UGRACE' })).status).toBe(200);
  const [update] = await slack.called('chat.update');
  expect(update?.fields).toMatchObject({ channel: slackChannelId, ts: '1700000000.000001' });
  expect(slack.shown(update)).toContain('Approved by grace@example.com.');
  expect(slack.buttons(update)).toEqual([]);
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({
    decision: 'allow',
    decidedBy: (await grace.identity()).id,
  });
  const { body } = await api('GET', '/audit?limit=1');
  expect(body.items[0]).toMatchObject({
    action: 'held_action.approved',
    actor: { kind: 'person', principal: 'grace@example.com' },
    target: { id },
  });
  expect(slack.calls.filter(({ method }) => method === 'chat.postEphemeral')).toEqual([]);
});

test('denies with the reason that a person writes in the form of “Deny…”', async () => {
  const grace = await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold();
  expect((await click({ user: 'UGRACE', button: 'actlog_deny_reason' })).status).toBe(200);
  const [form] = await slack.called('views.open');
  expect(form?.fields.trigger_id).toBe('12466734323.1395872398');
  expect(form?.fields.view).toContain('refund by billing-agent');
  expect(await statusOf(id)).toBe('pending');
  const submitted = slack.submit({ user: 'UGRACE', comment: '  Ask finance first.\n' });
  const response = await send(submitted);
  expect([response.status, await response.text()]).toEqual([200, '']);
  const [update] = await slack.called('chat.update');
  expect(slack.shown(update)).toContain('Denied by grace@example.com. “Ask finance first.”');
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({
    decision: 'deny',
    decidedBy: (await grace.identity()).id,
    comment: 'Ask finance first.',
  });
  // Sent again, and with another reason, it changes nothing.
  const again = await send(submitted);
  expect(await again.json()).toEqual({
    response_action: 'errors',
    errors: { reason: expect.stringContaining('counts once') },
  });
});

test('denies without a reason if the form is left empty', async () => {
  await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold();
  await click({ user: 'UGRACE', button: 'actlog_deny_reason' });
  await slack.called('views.open');
  await send(slack.submit({ user: 'UGRACE', comment: null }));
  expect(await statusOf(id)).toBe('denied');
  expect(await server.check({ actionId: 'call-1' })).toMatchObject({ decision: 'deny', comment: null });
});

test('shows in the form why a reason changes nothing, and opens none for people who may not decide', async () => {
  await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold();
  await click({ user: 'UALAN', button: 'actlog_deny_reason' });
  await slack.called('chat.postEphemeral');
  expect(slack.calls.some(({ method }) => method === 'views.open')).toBe(false);
  await click({ user: 'UGRACE', button: 'actlog_deny_reason' });
  await slack.called('views.open');
  const errors = async (request: Parameters<typeof send>[0]) =>
    ((await (await send(request)).json()) as { errors?: { reason: string } }).errors?.reason;
  expect(await errors(slack.submit({ user: 'UALAN', comment: 'no' }))).toContain('actlog does not know you');
  expect(await errors(slack.submit({ user: 'UGRACE', comment: 'no', metadata: '{"forged":1}' }))).toContain(
    'not one of this server',
  );
  const forged = slack.submit({ user: 'UGRACE', comment: 'no', signingSecret: 'another-secret-of-slack' });
  expect((await send(forged)).status).toBe(401);
  const late = slack.submit({ user: 'UGRACE', comment: 'no', ageSeconds: 301 });
  expect((await send(late)).status).toBe(401);
  expect(await statusOf(id)).toBe('pending');
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(await errors(slack.submit({ user: 'UGRACE', comment: 'too late' }))).toContain('already');
  await click({ user: 'UGRACE', button: 'actlog_deny_reason' });
  expect(slack.calls.filter(({ method }) => method === 'views.open')).toHaveLength(1);
  expect(await statusOf(id)).toBe('approved');
});

test('updates the card when the prompt of an agent was answered where the agent runs', async () => {
  await slackChannel();
  const { pendingActionId: id } = await server.check({ actionId: 'call-1', holdSeconds: 60 });
  await slack.called('chat.postMessage');
  expect(await api('POST', `/pending-actions/${id}/withdraw`)).toMatchObject({ status: 200 });
  const [update] = await slack.called('chat.update');
  expect(slack.shown(update)).toContain('Withdrawn: its prompt was answered where the agent runs.');
  expect(slack.buttons(update)).toEqual([]);
});

test('updates the card once when the action is decided elsewhere, or expires', async () => {
  await slackChannel();
  const id = await hold();
  await server.ok('guardian.pendingActions.decide', {
    id,
    body: { decision: 'deny', comment: 'Not today.' },
  });
  const [update] = await slack.called('chat.update');
  expect(slack.shown(update)).toContain('Denied by key_');
  expect(slack.shown(update)).toContain('Not today.');
  await server.check({ actionId: 'call-2', action: { toolName: 'refund', argumentsHash: 'sha256:bb' } });
  await slack.called('chat.postMessage', 2);
  expect(slack.calls.filter(({ method }) => method === 'chat.update')).toHaveLength(1);
});

test('counts several approvers, and shows each in the card', async () => {
  await SignedIn.as('grace', setup.url);
  await SignedIn.as('ada', setup.url);
  await slackChannel();
  const id = await hold({ requiredApprovers: 2 });
  await click({ user: 'UGRACE' });
  const [first] = await slack.called('chat.update');
  expect(slack.shown(first)).toContain('1 of 2 approvals');
  expect(slack.buttons(first)).toHaveLength(3);
  // The same person counts once, with the same button.
  await click({ user: 'UGRACE' });
  const [again] = await slack.called('chat.postEphemeral');
  expect(again?.fields).toMatchObject({ user: 'UGRACE', text: expect.stringContaining('counts once') });
  expect(await statusOf(id)).toBe('pending');
  await click({ user: 'UADA' });
  await slack.called('chat.update', 2);
  expect(await statusOf(id)).toBe('approved');
});

test('shows what an approver changed, and approves exactly that', async () => {
  await SignedIn.as('grace', setup.url);
  await slackChannel();
  const editable = [{ path: 'amount', max: 1000 }];
  const action = {
    toolName: 'refund',
    argumentsHash: 'sha256:aa',
    arguments: { amount: 900 },
    acceptsChanges: true,
  };
  const id = await hold({ requiredApprovers: 2, editable }, { action });
  const unchanged = await slack.click({ user: 'UGRACE' });
  const body = { decision: 'approve', changedArguments: { amount: 500 } };
  await server.ok('guardian.pendingActions.decide', { id, body });
  const [card] = await slack.called('chat.update');
  expect(slack.shown(card)).toContain('An approver changed these arguments:\\namount: 500');
  // The button of the card before the change is for the requested arguments.
  await send(unchanged);
  const [told] = await slack.called('chat.postEphemeral');
  expect(told?.fields.text).toContain('not one of this server');
  const [approve] = slack.buttons(card);
  await click({ user: 'UGRACE', value: approve?.value ?? '' });
  const updates = await slack.called('chat.update', 2);
  expect(slack.shown(updates[1])).toContain('Approved by grace@example.com, with changed arguments.');
});

test('keeps the rules about requesters and groups', async () => {
  await SignedIn.as('grace', setup.url);
  await SignedIn.as('ada', setup.url);
  await slackChannel();
  const id = await hold(
    { notRequester: true, approverGroups: ['security', 'on-call'] },
    { principal: 'GRACE@example.com' },
  );
  await click({ user: 'UGRACE' });
  const [refused] = await slack.called('chat.postEphemeral');
  expect(refused?.fields.text).toContain('The requester of an action cannot approve it.');
  await click({ user: 'UADA' });
  await slack.called('chat.update');
  expect(await statusOf(id)).toBe('approved');
});

test('lets only people of the groups of the policy approve, in Slack and in the console', async () => {
  const grace = await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold({ approverGroups: ['security'] });
  await click({ user: 'UGRACE' });
  const [refused] = await slack.called('chat.postEphemeral');
  expect(refused?.fields.text).toContain('only people of certain groups');
  const response = await grace.send('POST', `/v1/guardian/pending-actions/${id}/decide`, {
    decision: 'approve',
  });
  expect(await response.json()).toMatchObject({ error: { details: [{ code: 'approver_groups' }] } });
  const ada = await SignedIn.as('ada', setup.url);
  expect(await ada.status('POST', `/v1/guardian/pending-actions/${id}/decide`, { decision: 'approve' })).toBe(
    200,
  );
});

describe('changes nothing, and tells the person why, for a click', () => {
  beforeEach(async () => {
    await SignedIn.as('grace', setup.url);
    await SignedIn.as('alan', setup.url);
  });

  test.each<[string, ClickOptions, Parameters<LoopbackSlack['members']['set']>[1] | undefined, string]>([
    ['of someone who never signed in', { user: 'UADA' }, undefined, 'Sign in at'],
    ['of a viewer', { user: 'UALAN' }, undefined, 'Your role (viewer) cannot decide'],
    [
      'of an address that is not confirmed',
      { user: 'UX' },
      { email: 'grace@example.com', isConfirmed: false },
      'confirmed',
    ],
    [
      'of a stranger in a shared channel',
      { user: 'UX' },
      { email: 'grace@example.com', isStranger: true },
      'workspace',
    ],
    [
      'of a member of another workspace',
      { user: 'UX' },
      { email: 'grace@example.com', team: 'T9' },
      'workspace',
    ],
    ['from another workspace', { user: 'UGRACE', team: 'T9' }, undefined, 'workspace'],
    ['of someone who has left', { user: 'UX' }, { email: 'grace@example.com', isDeleted: true }, 'workspace'],
    ['with a forged token', { user: 'UGRACE', value: 'forged' }, undefined, 'not one of this server'],
  ])('%s', async (_, options, member, text) => {
    await slackChannel();
    const id = await hold();
    if (member) slack.members.set('UX', member);
    let { value } = options;
    if (value === 'forged') {
      const [button] = slack.buttons((await slack.called('chat.postMessage'))[0]);
      const known = JSON.parse(button?.value ?? '{}') as { token: string };
      value = JSON.stringify({
        ...known,
        token: known.token.replace(/^./, (one) => (one === 'A' ? 'B' : 'A')),
      });
    }
    expect((await click({ ...options, ...(value !== undefined && { value }) })).status).toBe(200);
    const [told] = await slack.called('chat.postEphemeral');
    expect(told?.fields).toMatchObject({
      channel: slackChannelId,
      user: options.user,
      text: expect.stringContaining(text),
    });
    expect(await statusOf(id)).toBe('pending');
  });

  test('whose token is that of another decision, or of another action', async () => {
    await slackChannel();
    const id = await hold();
    const [approve, deny] = slack.buttons((await slack.called('chat.postMessage'))[0]);
    await server.check({ actionId: 'call-2', action: { toolName: 'refund', argumentsHash: 'sha256:bb' } });
    const other = slack.buttons((await slack.called('chat.postMessage', 2))[1])[0];
    const mixed = { ...JSON.parse(approve?.value ?? ''), token: JSON.parse(other?.value ?? '').token };
    await click({ user: 'UGRACE', button: 'actlog_approve', value: deny?.value ?? '' });
    await click({ user: 'UGRACE', value: JSON.stringify(mixed) });
    await slack.called('chat.postEphemeral', 2);
    expect(await statusOf(id)).toBe('pending');
  });

  test('about an action that was decided meanwhile', async () => {
    await slackChannel();
    const id = await hold();
    await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
    await click({ user: 'UGRACE' });
    const [told] = await slack.called('chat.postEphemeral');
    expect(told?.fields.text).toContain('The action is already denied; a decision is final.');
    expect(await statusOf(id)).toBe('denied');
  });

  test('that is repeated with its signature', async () => {
    await slackChannel();
    const id = await hold({ requiredApprovers: 2 });
    const request = await slack.click({ user: 'UGRACE' });
    expect((await send(request)).status).toBe(200);
    await slack.called('chat.update');
    expect((await send(request)).status).toBe(200);
    const [told] = await slack.called('chat.postEphemeral');
    expect(told?.fields.text).toContain('received before');
    expect(await statusOf(id)).toBe('pending');
  });
});

test.each<[string, ClickOptions]>([
  ['of another signing secret', { signingSecret: 'another signing secret of 32 chars' }],
  ['that is six minutes old', { ageSeconds: 360 }],
  ['that is six minutes ahead', { ageSeconds: -360 }],
])('refuses a request %s', async (_, options) => {
  await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold();
  const response = await click({ user: 'UGRACE', ...options });
  expect(response.status).toBe(401);
  expect(await statusOf(id)).toBe('pending');
  expect(slack.calls.filter(({ method }) => method !== 'auth.test' && method !== 'chat.postMessage')).toEqual(
    [],
  );
});

test('refuses a request whose body was changed, or that has no signature', async () => {
  await SignedIn.as('grace', setup.url);
  await slackChannel();
  const id = await hold();
  const { body, headers } = await slack.click({ user: 'UALAN' });
  expect((await send({ body: body.replace('UALAN', 'UGRACE'), headers })).status).toBe(401);
  expect(
    (await send({ body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })).status,
  ).toBe(401);
  expect(await statusOf(id)).toBe('pending');
});

test('forgets a person whom an administrator signs out', async () => {
  await SignedIn.as('grace', setup.url);
  const ada = await SignedIn.as('ada', setup.url);
  await slackChannel();
  const id = await hold();
  const { items } = (await (await ada.send('GET', '/console/api/sign-ins')).json()) as {
    items: { id: string; name: string }[];
  };
  const signIn = items.find(({ name }) => name === 'grace@example.com');
  expect(await ada.status('DELETE', `/console/api/sign-ins/${signIn?.id}`)).toBe(200);
  await click({ user: 'UGRACE' });
  const [told] = await slack.called('chat.postEphemeral');
  expect(told?.fields.text).toContain('Sign in at');
  expect(await statusOf(id)).toBe('pending');
});

test('keeps the secrets of the app out of every response', async () => {
  const id = await slackChannel();
  for (const place of ['/channels', `/channels/${id}`, '/audit']) {
    const text = JSON.stringify((await api('GET', place)).body);
    expect(text).not.toContain(slackApp.slackBotToken);
    expect(text).not.toContain(slackApp.slackSigningSecret);
  }
});

test('repeats a card that Slack did not accept, and says why', async () => {
  const id = await slackChannel();
  slack.responses.push({ status: 200, body: { ok: false, error: 'not_in_channel' } });
  await server.policy({ effect: 'require_approval' });
  await server.check({ actionId: 'call-1' });
  await slack.called('chat.postMessage', 1);
  await expect
    .poll(async () => (await api('GET', `/channels/${id}`)).body)
    .toMatchObject({ failureCount: 1, lastError: 'Slack refused the message (not_in_channel)' });
  const cards = await slack.called('chat.postMessage', 2);
  expect(slack.buttons(cards[1])).toHaveLength(3);
});

test('sends a test message', async () => {
  const id = await slackChannel();
  const { status, body } = await api('POST', `/channels/${id}/test`, {});
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { items: [{ channelId: id, eventType: 'channel.test' }] },
  });
  const [message] = await slack.called('chat.postMessage');
  expect(message?.fields.text).toContain('actlog can send to this channel');
});
