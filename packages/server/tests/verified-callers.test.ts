import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { audience, startTestIssuer, type TestIssuer } from '../../identity/tests/test-issuer.ts';
import type { ServerOptions } from '../src/index.ts';
import { logged } from './evidence/logged-records.ts';
import { sendTraces, toolSpanJson, traceRequest } from './otlp/trace-request.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, checkBody, type TestServer, testServer } from './test-server.ts';

let issuer: TestIssuer;

beforeEach(async () => {
  issuer = await startTestIssuer();
});
afterEach(() => issuer.close());

/** Returns a server that accepts tokens of the issuer: the subject is the agent, and `email` the principal. */
function verifyingServer(options: ServerOptions = {}): Promise<TestServer> {
  const accepted = { issuer: issuer.url, audience, agents: { '*': '$1' }, principalClaim: 'email' };
  return testServer({ identityIssuers: [accepted], ...options });
}

/** Returns the header with a token. */
async function identity(claims: Readonly<Record<string, unknown>>): Promise<Record<string, string>> {
  return { 'x-actlog-identity': await issuer.token(claims) };
}

/** Returns the verified identity that is kept. */
function kept(subject: string, facts: object = {}): object {
  return { issuer: issuer.url, subject, agentVerified: true, principalVerified: false, ...facts };
}

test('keeps issuer and subject of a verified caller with events, decisions, held actions and the log', async () => {
  const server = await verifyingServer();
  await server.policy({ effect: 'require_approval', match: { tools: ['refund'] } });
  const headers = await identity({ sub: 'billing', email: 'ada@example.com' });
  const event = activityEvent({ agentId: 'billing' });
  await server.ok('events.create', { body: event, headers });
  await server.ok('events.create', { body: activityEvent({ agentId: 'billing' }) });
  const { pendingActionId } = await server.check({ agentId: 'billing' }, headers);
  const expected = kept('billing', { principalVerified: true });
  const [held] = (await server.ok('guardian.pendingActions.list')).items;
  expect(held).toMatchObject({ id: pendingActionId, principal: 'ada@example.com', identity: expected });
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  const calls = events.filter(({ category }) => category === 'tool_api');
  expect(calls.map((call) => call.identity)).toEqual(
    calls.map(({ eventId }) => (eventId === event.eventId ? expected : undefined)),
  );
  const response = await fetch(new URL('/server/v1/decisions', server.server.url), {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ items: [{ identity: expected, principal: 'ada@example.com' }] });
  const [decision] = (await logged(server, 'decision', 1)).filter(({ kind }) => kind === 'decision');
  expect(decision?.row).toMatchObject({ identity: expected });
  const [logEvent] = (await logged(server, 'event', 3)).filter(({ id }) => id === event.eventId);
  expect(logEvent?.row).toMatchObject({ identity: expected });
  for (const part of headers['x-actlog-identity']?.split('.') ?? []) expect(text).not.toContain(part);
});

test('keeps the verified caller and the trace of an event that another thread writes to a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-verified-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const server = await verifyingServer({ database: join(folder, 'actlog.db') });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const headers = { ...(await identity({ sub: 'billing' })), 'x-actlog-traceparent': traceparent };
  const event = activityEvent({ agentId: 'billing' });
  await server.ok('events.create', { body: event, headers });
  const { events } = await server.ok('sessions.get', { id: event.sessionId });
  expect(events).toMatchObject([{ identity: kept('billing'), traceparent }]);
  const [record] = await logged(server, 'event', 1);
  expect(record?.row).toMatchObject({ identity: kept('billing'), traceparent });
});

test('conditions read who is verified', async () => {
  const server = await verifyingServer();
  await server.policy({ name: 'verified', condition: '!agent.verified' });
  await server.policy({ name: 'issuer', condition: `agent.verified && agent.issuer != "${issuer.url}"` });
  await server.policy({ name: 'subject', condition: 'agent.subject == "mailer"' });
  await server.policy({ name: 'person', condition: 'principal != "" && !principalVerified' });
  const decided = async (fields: object, claims?: object) => {
    const { decision, matched } = await server.check(fields, claims ? await identity({ ...claims }) : {});
    return [decision, matched.map(({ policyName }) => policyName)];
  };
  expect(await decided({ agentId: 'billing' })).toEqual(['deny', ['verified']]);
  expect(await decided({ agentId: 'billing' }, { sub: 'billing' })).toEqual(['allow', []]);
  expect(await decided({ agentId: 'mailer' }, { sub: 'mailer' })).toEqual(['deny', ['subject']]);
  expect(await decided({ agentId: 'billing', principal: 'ada' }, { sub: 'billing' })).toEqual([
    'deny',
    ['person'],
  ]);
  expect(
    await decided(
      { agentId: 'billing', principal: 'ADA@example.com' },
      { sub: 'billing', email: 'ada@example.com' },
    ),
  ).toEqual(['allow', []]);
});

test('refuses the token of another agent or principal, at every door', async () => {
  const server = await verifyingServer();
  const headers = await identity({ sub: 'billing', email: 'ada@example.com' });
  for (const agentId of ['mailer', 'Billing', 'billing2']) {
    const refusals = [
      await server.refused('events.create', { body: activityEvent({ agentId }), headers }),
      await server.refused('policies.check', { body: checkBody({ agentId }), headers }),
      await server.refused('policies.check', {
        body: checkBody({ agentId }),
        headers: { ...headers, prefer: 'dry-run' },
      }),
    ];
    for (const { status, code, message } of refusals) {
      expect({ status, code }).toEqual({ status: 403, code: 'PERMISSION_DENIED' });
      expect(message).toContain(`verifies the agent "billing", not ${JSON.stringify(agentId)}`);
    }
  }
  const spans = ['billing', 'mailer'].map((agent) =>
    toolSpanJson('refund', { 'gen_ai.agent.id': agent, 'gen_ai.agent.name': agent }),
  );
  expect((await sendTraces(server, traceRequest(spans), headers)).status).toBe(403);
  const body = checkBody({ agentId: 'billing', principal: 'bob@example.com' });
  expect(await server.refused('policies.check', { body, headers })).toMatchObject({ status: 403 });
  expect((await server.ok('sessions.list')).items).toEqual([]);
});

test('names what is wrong with a token, and never the token', async () => {
  const server = await verifyingServer();
  const past = Math.floor(Date.now() / 1000) - 3600;
  for (const [claims, problem] of [
    [{ aud: 'https://other.example.com' }, 'it is not for this service ("aud")'],
    [{ exp: past, iat: past - 60 }, 'it has expired ("exp")'],
    [{ iss: 'https://login.example.com' }, 'its issuer ("iss")'],
  ] as const) {
    const token = await issuer.token(claims);
    const error = await server.refused('events.create', {
      body: activityEvent(),
      headers: { 'x-actlog-identity': token },
    });
    expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED' });
    expect(error.message).toContain(problem);
    for (const part of token.split('.')) expect(JSON.stringify(error)).not.toContain(part);
  }
  const twice = (await issuer.token()).concat(', ', await issuer.token());
  const headers = { 'x-actlog-identity': twice };
  expect(await server.refused('events.create', { body: activityEvent(), headers })).toMatchObject({
    status: 401,
  });
});

test('responds with 503 while the keys of the issuer cannot be read, so that events are sent again', async () => {
  const server = await verifyingServer();
  issuer.state.isDown = true;
  const headers = await identity({ sub: 'billing' });
  const error = await server.refused('events.create', {
    body: activityEvent({ agentId: 'billing' }),
    headers,
  });
  expect(error).toMatchObject({ status: 503, code: 'OVERLOADED' });
  expect(error.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
});

test('a key can require verified callers, and so can its successor', async () => {
  const server = await verifyingServer();
  const { keys } = server.server.admin;
  const options = { name: 'agent', scopes: ['ingest'] as const, requiresIdentity: true };
  const { apiKey, key } = await keys.create('default', options);
  const successor = await keys.rotate('default', key.id, 1);
  for (const agent of [server.as(apiKey), server.as(successor.apiKey)]) {
    const body = activityEvent({ agentId: 'billing' });
    expect(await agent.refused('events.create', { body })).toMatchObject({ status: 401 });
    expect(await agent.refused('policies.check', { body: checkBody() })).toMatchObject({ status: 401 });
    expect((await sendTraces(agent, traceRequest([toolSpanJson('refund')]))).status).toBe(401);
    const headers = await identity({ sub: 'billing' });
    await agent.ok('events.create', { body, headers });
    await agent.check({ agentId: 'billing' }, headers);
  }
  await server.record({ agentId: 'other' });
});

test('a server can require verified callers of every key, except for trying policies', async () => {
  const server = await verifyingServer({ requireIdentity: true });
  expect(await server.refused('events.create', { body: activityEvent() })).toMatchObject({ status: 401 });
  expect(await server.refused('policies.check', { body: checkBody() })).toMatchObject({ status: 401 });
  await server.check({}, { prefer: 'dry-run' });
  await expect(testServer({ requireIdentity: true })).rejects.toThrow(
    /requireIdentity: needs identityIssuers/,
  );
});

test('an approval of a verified caller is for no other caller', async () => {
  const server = await verifyingServer();
  await server.policy({ effect: 'require_approval' });
  const body = { agentId: 'billing', actionId: 'call-1' };
  const { pendingActionId } = await server.check(body, await identity({ sub: 'billing' }));
  const id = pendingActionId as string;
  await server.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(await server.refused('policies.check', { body: checkBody(body) })).toMatchObject({
    code: 'ACTION_MISMATCH',
  });
  // A new token of the same caller is the same caller.
  const again = await identity({ sub: 'billing', jti: '2' });
  expect((await server.check(body, again)).decision).toBe('allow');
});

test('a policy can demand a verified principal for an approval', async () => {
  const server = await verifyingServer();
  const approval = {
    timeoutSeconds: 900,
    onTimeout: 'deny',
    notRequester: true,
    verifiedPrincipal: true,
  } as const;
  await server.policy({ effect: 'require_approval', approval });
  const claimed = await server.check({ agentId: 'billing', principal: 'ada@example.com' });
  const approve = { decision: 'approve' };
  const refusal = await server.refused('guardian.pendingActions.decide', {
    id: claimed.pendingActionId as string,
    body: approve,
  });
  expect(refusal).toMatchObject({ status: 403, details: [{ code: 'unverified_principal' }] });
  await server.ok('guardian.pendingActions.decide', {
    id: claimed.pendingActionId as string,
    body: { decision: 'deny' },
  });
});
