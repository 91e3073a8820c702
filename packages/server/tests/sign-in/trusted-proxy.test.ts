import { request as send } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ServerOptions } from '../../src/index.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { roles } from './sign-in-setup.ts';

const publicUrl = 'https://actlog.example';
const proxySecret = 'a secret of at least thirty-two characters';
const trusted = { trustedProxies: ['127.0.0.0/8', '::1/128'] };
const headers = { principalHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups' };
const ada = { 'x-forwarded-user': 'ada@example.com', 'x-forwarded-groups': 'staff, security' };

function behindProxy(options: ServerOptions): Promise<TestServer> {
  return testServer({ publicUrl, ...headers, roles, ...options });
}

async function identity({ server }: TestServer, given: Record<string, string>) {
  const response = await fetch(`${server.url}/console/api/identity`, { headers: given });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('a trusted proxy', () => {
  test('signs people in by name and groups', async () => {
    const server = await behindProxy(trusted);
    expect(await identity(server, ada)).toMatchObject({
      status: 200,
      body: { id: expect.stringMatching(/^usr_/), name: 'ada@example.com', role: 'admin', canSignOut: false },
    });
    const status = await fetch(`${server.server.url}/console/api/sign-in`, { headers: ada });
    expect(await status.json()).toEqual({ provider: null, signedIn: true, noRole: null });
  });

  test('is known by its secret, wherever it connects from', async () => {
    const server = await behindProxy({ proxySecret });
    expect((await identity(server, { ...ada, 'x-actlog-proxy-secret': proxySecret })).status).toBe(200);
    for (const wrong of ['', `${proxySecret}x`, proxySecret.toUpperCase()]) {
      expect((await identity(server, { ...ada, 'x-actlog-proxy-secret': wrong })).status).toBe(401);
    }
  });

  test('gives nobody access without a role', async () => {
    const server = await behindProxy(trusted);
    const eve = { 'x-forwarded-user': 'eve', 'x-forwarded-groups': 'visitors' };
    expect((await identity(server, eve)).status).toBe(401);
    const status = await fetch(`${server.server.url}/console/api/sign-in`, { headers: eve });
    expect(await status.json()).toMatchObject({ signedIn: false, noRole: 'eve' });
    expect(
      (await identity(await behindProxy({ ...trusted, defaultRole: 'viewer' }), eve)).body,
    ).toMatchObject({
      role: 'viewer',
    });
  });

  test('does not replace the protection against other sites', async () => {
    const server = await behindProxy(trusted);
    const { csrfToken } = (await identity(server, ada)).body;
    const create = (given: Record<string, string>) =>
      fetch(`${server.server.url}/v1/policies`, {
        method: 'POST',
        headers: { ...ada, 'content-type': 'application/json', ...given },
        body: JSON.stringify({ name: 'p', effect: 'deny' }),
      });
    const token = { 'x-actlog-csrf': String(csrfToken) };
    expect((await create({})).status).toBe(403);
    expect((await create({ ...token, origin: 'https://evil.example' })).status).toBe(403);
    expect((await create({ ...token, 'x-forwarded-user': 'grace' })).status).not.toBe(201);
    expect((await create({ ...token, origin: publicUrl })).status).toBe(201);
  });

  test('suggests the groups of people and of policies to those who write policies', async () => {
    const server = await behindProxy(trusted);
    await identity(server, ada);
    const approval = {
      timeoutSeconds: 900,
      onTimeout: 'deny' as const,
      approverGroups: ['security', 'on-call'],
    };
    await server.policy({ effect: 'require_approval', approval });
    const suggested = (given: Record<string, string>, contains: string) =>
      fetch(`${server.server.url}/server/v1/suggestions?field=approverGroup${contains}`, { headers: given });
    await expect
      .poll(async () => (await suggested(ada, '')).json())
      .toEqual({ items: ['on-call', 'security', 'staff'] });
    expect(await (await suggested(ada, '&contains=CAL')).json()).toEqual({ items: ['on-call'] });
    const viewer = { 'x-forwarded-user': 'alan', 'x-forwarded-groups': 'staff' };
    expect((await suggested(viewer, '')).status).toBe(403);
  });

  test('must not pass on a header of its clients', async () => {
    const server = await behindProxy(trusted);
    const { port } = new URL(server.server.url);
    const status = await new Promise((done, fail) => {
      const request = send({ port, path: '/v1/sessions' }, (response) => done(response.resume().statusCode));
      request.setHeader('x-forwarded-user', 'ada@example.com');
      request.setHeader('x-forwarded-groups', ['staff', 'security']);
      request.on('error', fail).end();
    });
    expect(status).toBe(400);
  });

  test('leads to its own page to sign out', async () => {
    const server = await behindProxy({ ...trusted, proxySignOutUrl: '/oauth2/sign_out' });
    const { csrfToken, canSignOut } = (await identity(server, ada)).body;
    expect(canSignOut).toBe(true);
    const response = await fetch(`${server.server.url}/console/api/sign-out`, {
      method: 'POST',
      headers: { ...ada, 'x-actlog-csrf': String(csrfToken) },
    });
    expect(await response.json()).toEqual({ continueAt: '/oauth2/sign_out' });
  });
});

describe('a peer that is not trusted', () => {
  test.each([
    ['another address', { trustedProxies: ['10.1.0.7/32', 'fd00::/8'] }],
    ['no secret', { proxySecret }],
  ])('signs nobody in: %s', async (_title, options) => {
    const server = await behindProxy(options);
    expect((await identity(server, ada)).status).toBe(401);
    const status = await fetch(`${server.server.url}/console/api/sign-in`, { headers: ada });
    expect(await status.json()).toEqual({ provider: null, signedIn: false, noRole: null });
  });

  test('does not name the person who uses a key', async () => {
    const server = await behindProxy({ trustedProxies: ['10.1.0.7/32'] });
    await server.policy({ effect: 'require_approval' });
    const id = (await server.check()).pendingActionId as string;
    const decided = await server.ok('guardian.pendingActions.decide', {
      id,
      body: { decision: 'approve' },
      headers: ada,
    });
    expect(decided.decision).toMatchObject({ decidedBy: expect.stringMatching(/^key_/), principal: null });
  });
});

test('the person who uses a key is named by a trusted proxy', async () => {
  const server = await behindProxy(trusted);
  await server.policy({ effect: 'require_approval' });
  const id = (await server.check()).pendingActionId as string;
  const decided = await server.ok('guardian.pendingActions.decide', {
    id,
    body: { decision: 'deny' },
    headers: ada,
  });
  expect(decided.decision).toMatchObject({
    decidedBy: expect.stringMatching(/^key_/),
    principal: 'ada@example.com',
  });
});
