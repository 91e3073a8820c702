import { beforeEach, expect, test } from 'vitest';
import { SignedIn, type SignInSetup, signInSetup } from './sign-in-setup.ts';

let setup: SignInSetup;
let grace: SignedIn;
let graceId: string;

beforeEach(async () => {
  setup = await signInSetup();
  grace = await SignedIn.as('grace', setup.url);
  graceId = (await grace.identity()).id as string;
});

/** Holds an action of an agent. */
async function hold(approval: object = {}, principal?: string): Promise<string> {
  const { server } = setup;
  const rules = { timeoutSeconds: 900, onTimeout: 'deny', ...approval } as const;
  await server.policy({ effect: 'require_approval', approval: rules });
  const { pendingActionId } = await server.check({ actionId: 'call-1', ...(principal && { principal }) });
  return pendingActionId as string;
}

async function decide(person: SignedIn, id: string, body: object): Promise<Record<string, unknown>> {
  const response = await person.send('POST', `/v1/guardian/pending-actions/${id}/decide`, body);
  return (await response.json()) as Record<string, unknown>;
}

test.each([
  ['approve', 'approved'],
  ['deny', 'denied'],
])('a decision to %s names the person, in the action and in the session', async (decision, status) => {
  const decided = await decide(grace, await hold(), { decision });
  expect(decided).toMatchObject({
    status,
    decision: { decision, decidedBy: graceId, principal: 'grace@example.com' },
  });
  const { events } = await setup.server.ok('sessions.get', { id: 'thread-1' });
  expect(events.at(-1)?.payload).toMatchObject({
    decision: status,
    decidedBy: graceId,
    principal: 'grace@example.com',
  });
});

test('a batch of decisions names the person', async () => {
  const id = await hold();
  const response = await grace.send('POST', '/server/v1/pending-actions/decide', {
    decisions: [{ id, decision: 'approve' }],
  });
  expect(await response.json()).toMatchObject({
    results: [{ action: { decision: { decidedBy: graceId, principal: 'grace@example.com' } } }],
  });
});

test('a person counts once, however often they sign in', async () => {
  const id = await hold({ requiredApprovers: 2 });
  const again = await SignedIn.as('grace', setup.url);
  for (const person of [grace, again]) {
    expect(await decide(person, id, { decision: 'approve' })).toMatchObject({ status: 'pending' });
  }
  const ada = await SignedIn.as('ada', setup.url);
  expect(await decide(ada, id, { decision: 'approve' })).toMatchObject({
    status: 'approved',
    approvals: { given: [{ principal: 'grace@example.com' }, { principal: 'ada@example.com' }] },
  });
});

test('the person for whom the agent acts cannot approve', async () => {
  const id = await hold({ notRequester: true }, 'grace@example.com');
  expect(await decide(grace, id, { decision: 'approve' })).toMatchObject({
    error: { details: [{ code: 'requester' }] },
  });
  const ada = await SignedIn.as('ada', setup.url);
  expect(await decide(ada, id, { decision: 'approve' })).toMatchObject({ status: 'approved' });
});

test('only the listed people can approve, by their ids', async () => {
  const id = await hold({ approverKeys: [graceId] });
  const ada = await SignedIn.as('ada', setup.url);
  expect(await decide(ada, id, { decision: 'approve' })).toMatchObject({
    error: { details: [{ code: 'approver_keys' }] },
  });
  expect(await decide(grace, id, { decision: 'approve' })).toMatchObject({ status: 'approved' });
});

test('a grant names the people who gave and revoked it', async () => {
  const id = await hold();
  const { grantId } = await decide(grace, id, { decision: 'approve', grant: { for: 'tool' } });
  const ada = await SignedIn.as('ada', setup.url);
  const revoked = await ada.send('DELETE', `/server/v1/grants/${grantId}`);
  const names = {
    grantedBy: graceId,
    grantedByPrincipal: 'grace@example.com',
    revokedBy: expect.stringMatching(/^usr_/),
    revokedByPrincipal: 'ada@example.com',
  };
  expect(await revoked.json()).toMatchObject(names);
  const listed = await ada.send('GET', '/server/v1/grants');
  expect(await listed.json()).toMatchObject({ items: [names] });
  const { events } = await setup.server.ok('sessions.get', { id: 'thread-1' });
  expect(events.at(-1)?.payload).toMatchObject({ decision: 'grant_revoked', principal: 'ada@example.com' });
});

test('a key names the person who created it, and the one who replaced it', async () => {
  const ada = await SignedIn.as('ada', setup.url);
  const created = await ada.send('POST', '/console/api/keys', { name: 'agent' });
  const { key } = (await created.json()) as { key: { id: string } };
  expect(key).toMatchObject({ createdBy: 'ada@example.com', current: false });
  const rotated = await ada.send('POST', `/console/api/keys/${key.id}/rotate`);
  expect(await rotated.json()).toMatchObject({ key: { createdBy: 'ada@example.com' } });
  const listed = (await (await ada.send('GET', '/console/api/keys')).json()) as { items: object[] };
  expect(listed.items).toContainEqual(expect.objectContaining({ name: 'startServer', createdBy: null }));
});
