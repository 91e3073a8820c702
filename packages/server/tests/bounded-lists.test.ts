import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { openStorage } from '../src/open-storage.ts';
import { insertKey } from '../src/storage/stores/key-store.ts';
import { insertSignIn } from '../src/storage/stores/sign-in-store.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';

/** Largest page of a list, in bytes: a mebibyte of stored content, and the names of its fields. */
const maxPageBytes = 2 * 1024 * 1024;

const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly nextCursor?: string | null;
  readonly hasMore?: boolean;
}

async function request(server: TestServer, path: string, body?: object): Promise<string> {
  const response = await fetch(server.server.url + path, {
    headers: {
      authorization: `Bearer ${server.apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect({ status: response.status, text: text.slice(0, 200) }).toMatchObject({ status: 200 });
  return text;
}

/** Reads all pages of a list, each within the bound, and returns the ids and the number of pages. */
async function pagesOf(server: TestServer, path: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const text = await request(server, `${path}?limit=200${cursor && `&cursor=${cursor}`}`);
    expect(Buffer.byteLength(text)).toBeLessThan(maxPageBytes);
    const { items, nextCursor = null }: Page = JSON.parse(text) as Page;
    expect(items.length).toBeGreaterThan(0);
    ids.push(...items.map(({ id }) => id));
    pages += 1;
    cursor = nextCursor;
  }
  return { ids, pages };
}

/** Starts a server whose database the test can write. */
async function filledServer() {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-lists-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ database: join(folder, 'actlog.db') });
  const server = await testServer(options);
  const storage = await openStorage({ ...options, database: options.database as string, connections: 2 });
  atTestEnd(() => storage.close());
  return { server, storage };
}

/** Creates policies that match every action, and decide nothing. */
async function manyPolicies(server: TestServer, count: number, message?: string): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    await server.policy({ effect: 'deny', mode: 'log_only', ...(message && { message }) });
  }
}

test('bounds a page of decisions in bytes, also those without arguments', async () => {
  const server = await testServer();
  await manyPolicies(server, 150);
  for (let count = 0; count < 120; count += 1) await server.check({ sessionId: `s-${count}` });
  const { ids, pages } = await pagesOf(server, '/server/v1/decisions');
  expect(new Set(ids).size).toBe(120);
  expect(pages).toBeGreaterThan(1);
});

test('bounds a page of the audit log in bytes', async () => {
  const server = await testServer();
  const { id } = await server.policy();
  for (let count = 0; count < 130; count += 1) {
    const description = `${count} ${'x'.repeat(1990)}`;
    const message = `${count} ${'☃'.repeat(480)}`;
    await server.ok('policies.update', { id, body: { description, message } });
  }
  const { ids } = await pagesOf(server, '/server/v1/audit');
  expect(new Set(ids).size).toBeGreaterThanOrEqual(131);
});

test('bounds a page of grants in bytes', async () => {
  const server = await testServer();
  for (let number = 0; number < 120; number += 1) await server.policy({ effect: 'require_approval' });
  for (let count = 0; count < 90; count += 1) {
    const { pendingActionId } = await server.check({ sessionId: `s-${count}`, actionId: `a-${count}` });
    const body = { decision: 'approve', grant: { for: 'tool' } };
    await server.ok('guardian.pendingActions.decide', { id: pendingActionId as string, body });
  }
  expect((await pagesOf(server, '/server/v1/grants')).ids).toHaveLength(90);
});

test('bounds a trial in bytes, and keeps the policy that decides', async () => {
  const server = await testServer();
  const policy = { effect: 'deny', mode: 'log_only', message: '☃'.repeat(480), priority: 5 } as const;
  const policies = Array.from({ length: 15 }, (_, number) => ({ ...policy, name: `p-${number}` }));
  await manyPolicies(server, 400, '☃'.repeat(480));
  const { id } = await server.policy({ name: 'decides', priority: -1 });
  const text = await request(server, '/server/v1/trials', { policies, check: { agentId: 'a', action } });
  const { decision, decidedBy, matched, moreMatched } = JSON.parse(text) as {
    decision: string;
    decidedBy: string;
    matched: { policyId: string }[];
    moreMatched: number;
  };
  expect(Buffer.byteLength(text)).toBeLessThan(maxPageBytes);
  expect([decision, decidedBy, matched.at(-1)?.policyId]).toEqual(['deny', id, id]);
  expect(matched.length + moreMatched).toBe(416);
  expect(matched.length).toBeLessThan(400);
});

test('bounds the lists of keys and of sign-ins in bytes, and says that there are more', async () => {
  const { server, storage } = await filledServer();
  const pattern = '☃'.repeat(190);
  const nowMs = Date.now();
  await storage.writeAcross('administer', async ({ db }) => {
    for (let number = 0; number < 800; number += 1) {
      await insertKey(db, {
        tenantId: 1,
        id: `k${number}`,
        digest: randomUUID(),
        kind: 'test',
        name: `key ${number}`,
        scopes: ['read'],
        createdMs: nowMs - 1000 + number,
        expiresMs: null,
        lastUsedMs: null,
        createdBy: null,
        agents: Array.from({ length: 5 }, () => pattern),
        shared: false,
        requiresIdentity: false,
      });
    }
    for (let number = 0; number < 900; number += 1) {
      await insertSignIn(db, {
        id: `s${String(number).padStart(4, '0')}`,
        digest: randomUUID(),
        tenant_id: 1,
        user_id: `usr_${'x'.repeat(800)}`,
        name: '☃'.repeat(300),
        role: 'viewer',
        created_ms: nowMs,
        last_used_ms: nowMs,
        expires_ms: nowMs + 3_600_000,
        id_token: null,
      });
    }
  });
  for (const path of ['/console/api/keys', '/console/api/sign-ins']) {
    const text = await request(server, path);
    expect(Buffer.byteLength(text)).toBeLessThan(maxPageBytes);
    const { items, hasMore } = JSON.parse(text) as Page;
    expect([path, items.length > 100, items.length < 800, hasMore]).toEqual([path, true, true, true]);
  }
});

test('bounds the overview in bytes, whatever the names of agents, tools and sessions', async () => {
  const server = await testServer();
  const long = (number: number) => `${number} ${'☃'.repeat(190)}`;
  await server.recordMany(
    Array.from({ length: 60 }, (_, number) => ({
      agentId: long(number),
      sessionId: long(number),
      payload: { toolName: long(number), argumentsHash: 'sha256:aa', responseStatus: 500 },
    })),
  );
  const since = new Date(Date.now() - 2 * 24 * 3_600_000).toISOString();
  const text = await request(server, `/server/v1/overview?interval=5m&since=${since}`);
  expect(Buffer.byteLength(text)).toBeLessThan(maxPageBytes / 4);
});

/** Sends a request on many open connections in the same moment, and reads the responses. */
async function atOnce(server: TestServer, count: number, path: string, body?: object): Promise<void> {
  const { hostname, port } = new URL(server.server.url);
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      return socket;
    }),
  );
  const content = body ? JSON.stringify(body) : '';
  const type = body ? `content-type: application/json\r\ncontent-length: ${content.length}\r\n` : '';
  const head = `${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
  const responses = sockets.map((socket) => text(socket));
  for (const socket of sockets) {
    socket.write(`${head}authorization: Bearer ${server.apiKey}\r\n${type}\r\n${content}`);
  }
  for (const response of await Promise.all(responses)) expect(response.slice(0, 12)).toBe('HTTP/1.1 200');
}

/** Lists outside `/v1`, and the body of those that are requested with POST. */
const reads: Readonly<Record<string, object | undefined>> = {
  '/server/v1/decisions?limit=200': undefined,
  '/server/v1/audit?limit=200': undefined,
  '/server/v1/overview?interval=5m': undefined,
  '/console/api/keys': undefined,
  '/server/v1/trials': {
    policies: [{ name: 'draft', effect: 'deny' }],
    check: { agentId: 'a', action },
  },
};

test('serves other requests between responses of lists', async () => {
  const { server, storage } = await filledServer();
  await manyPolicies(server, 150, 'x'.repeat(500));
  for (let count = 0; count < 80; count += 1) await server.check({ sessionId: `s-${count}` });
  await storage.writeAcross('administer', async ({ db }) => {
    for (let number = 0; number < 150; number += 1) {
      const key = { tenantId: 1, kind: 'test', name: 'n'.repeat(150), scopes: ['read'] } as const;
      const times = { createdMs: number, expiresMs: null, lastUsedMs: null, createdBy: null };
      const id = `k${number}`;
      await insertKey(db, {
        ...key,
        ...times,
        id,
        digest: randomUUID(),
        agents: null,
        shared: false,
        requiresIdentity: false,
      });
    }
  });
  for (const [path, body] of Object.entries(reads)) {
    // The size of a response is known from the one before.
    expect((await request(server, path, body)).length).toBeGreaterThan(16 * 1024);
    const perTurn = new Map<number, number>();
    let turn = 0;
    let isDone = false;
    const nextTurn = () => {
      turn += 1;
      if (!isDone) setImmediate(nextTurn);
    };
    nextTurn();
    const stringify = JSON.stringify;
    const rendering = vi.spyOn(JSON, 'stringify').mockImplementation((...given) => {
      const json = stringify(...given);
      if (json?.length > 16 * 1024) perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
      return json;
    });
    await atOnce(server, 40, path, body);
    isDone = true;
    rendering.mockRestore();
    const rendered = [...perTurn.values()].reduce((sum, count) => sum + count, 0);
    expect([path, rendered >= 40]).toEqual([path, true]);
    // Another request waits for as many responses as one turn of the event loop renders.
    // PostgreSQL returns several pages in one turn.
    const most = storage.isShared ? 40 : 3;
    expect([path, Math.max(...perTurn.values()) <= most]).toEqual([path, true]);
  }
});
