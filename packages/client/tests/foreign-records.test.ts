import { Actlog, ResponseShapeError } from '@actlog/client';
import { idOf } from '@actlog/client/records';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployments } from './deployments/deployment.ts';
import { newEvent } from './deployments/trial.ts';
import { json, raw, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient } from './test-client.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await new ScriptedServer().start();
});
afterAll(() => server.stop());

describe('numeric ids', () => {
  it('are accepted wherever a record is addressed', async () => {
    server.script(json(200, {}));
    const { client } = testClient(server.origin);
    await client.sessions.get(7);
    await client.sessions.risk(7);
    await client.sessions.export(7);
    await client.sessions.exportToBlob(7);
    await client.agents.get(0);
    await client.agents.update(7, {});
    await client.policies.get(7);
    await client.policies.update(7, {});
    await client.policies.archive(7);
    await client.guardian.pendingActions.decide(-7, { decision: 'approve' });
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/sessions/7',
      '/v1/sessions/7/risk',
      '/v1/sessions/7/export.json',
      '/v1/sessions/7/export.json',
      '/v1/agents/0',
      '/v1/agents/7',
      '/v1/policies/7',
      '/v1/policies/7',
      '/v1/policies/7',
      '/v1/guardian/pending-actions/-7/decide',
    ]);
    server.script(json(200, { items: [], events: [], nextCursor: null }));
    await client.sessions.events(7).toArray();
    await client.agents.sessions(7).toArray();
    expect(server.requests.map(({ url }) => url)).toEqual(['/v1/sessions/7', '/v1/agents/7/sessions']);
  });

  it('are returned unchanged for a change without a body', async () => {
    server.script(raw(204, ''));
    const { client } = testClient(server.origin);
    expect(await client.policies.archive(7)).toEqual({ id: 7 });
  });

  it('that lost digits in JSON are rejected, because they name another record', async () => {
    server.script(json(200, {}));
    const { client } = testClient(server.origin);
    const error = await rejection(client.agents.get(2 ** 53));
    expect(error.message).toBe('id in /v1/agents/:id must be a record identifier, got 9007199254740992.');
    expect(server.requests).toEqual([]);
  });
});

describe('itemsKey', () => {
  it.each([
    [
      'beside the items',
      (items: unknown[], nextCursor: string | null) => ({ result: { traces: { items, nextCursor } } }),
    ],
    [
      'outside',
      (items: unknown[], nextCursor: string | null) => ({ nextCursor, result: { traces: { items } } }),
    ],
    [
      'in a name with a dot',
      (items: unknown[], nextCursor: string | null) => ({ nextCursor, 'result.traces.items': items }),
    ],
  ])('is a path of names, with the cursor %s', async (_where, page) => {
    server.script(json(200, page([{ id: 'a' }], 'next')), json(200, page([{ id: 'b' }], null)));
    const { client } = testClient(server.origin);
    const options = { itemsKey: 'result.traces.items' };
    expect(await client.agents.list({}, options).toArray()).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(server.requests[1]?.url).toBe('/v1/agents?cursor=next');
  });

  it.each<object>([
    { result: null },
    { result: {} },
    { result: { traces: [] } },
    { nextCursor: null, constructor: [] },
  ])('that leads to no array is reported: %j', async (page) => {
    server.script(json(200, { nextCursor: null, ...page }));
    const { client } = testClient(server.origin);
    const error = await rejection(client.agents.list({}, { itemsKey: 'result.traces.items' }));
    expect(error.message).toMatch(/without an array result\.traces\.items \(itemsKey\)/);
  });

  const page = { hints: [{ id: 'hint' }], items: [], rows: [{ number: 1 }, { number: 2 }], nextCursor: null };

  it('names the items of a page, and takes precedence over common names', async () => {
    server.script(json(200, page));
    const { client } = testClient(server.origin);
    const agents = client.agents.list({}, { itemsKey: 'rows' }).as<{ number: number }>();
    expect(await agents.map(({ number }) => number).toArray()).toEqual([1, 2]);
    expect((await agents).items).toEqual(page.rows);
    expect(await client.sessions.events('s', {}, { itemsKey: 'rows' }).toArray()).toEqual(page.rows);
  });

  it('applies to all pages', async () => {
    server.script(json(200, { ...page, nextCursor: 'next' }), json(200, page));
    const { client } = testClient(server.origin);
    expect(await client.agents.list({}, { itemsKey: 'rows' }).toArray()).toHaveLength(4);
  });

  it('fails for a page without that array, instead of taking another', async () => {
    server.script(json(200, { hints: [{ id: 'hint' }], nextCursor: null }));
    const { client } = testClient(server.origin);
    const error = await rejection(client.agents.list({}, { itemsKey: 'rows' }));
    expect(error).toBeInstanceOf(ResponseShapeError);
    expect(error.message).toBe('GET /v1/agents returned 200 with a page without an array rows (itemsKey).');
  });
});

describe.each(deployments)('idOf against %s', (_name, start) => {
  it('finds the ids by which records can be read', async () => {
    const { options, dialect, close } = await start();
    try {
      const client = new Actlog({ ...options, logLevel: 'off' });
      const agent = await client.agents.create(dialect.agent('Billing'));
      expect(idOf(await client.agents.get(idOf(agent)))).toBe(idOf(agent));
      const policy = await client.policies.create(dialect.policy('Refunds'));
      expect(idOf(await client.policies.get(idOf(policy)))).toBe(idOf(policy));
      const event = newEvent();
      await client.events.create(event);
      const [session] = await client.sessions.list().toArray({ limit: 1 });
      expect(idOf(session as object)).toBe(event.sessionId);
    } finally {
      await close();
    }
  });
});
