import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { start } from '../command-line.ts';
import { idOf } from './test-console.ts';

/** Starts a server by the command, and returns the address and the admin key that it prints once it listens. */
async function started(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const server = start(['--port', '0', '--database', ':memory:', ...args], { env });
  onTestFinished(() => server.kill());
  await server.stderr.until((text) => text.includes('ACTLOG_API_KEY='));
  const [url, apiKey] = [/ACTLOG_BASE_URL=(\S+)/, /^ +admin +(\S+)/m].map(
    (line) => line.exec(server.stderr.text)?.[1],
  );
  const stop = async () => {
    server.kill();
    await server.exit;
  };
  return { server, url: url as string, apiKey: apiKey as string, stop };
}

test('logs each change of a key once, by ids, without secrets', async () => {
  const { server, url, apiKey, stop } = await started([]);
  const send = async (path: string, body: object) => {
    const response = await fetch(`${url}/console/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const created = (await response.json()) as { apiKey: string };
    return {
      status: response.status,
      apiKey: created.apiKey,
      request: response.headers.get('x-request-id'),
    };
  };
  const created = await send('keys', { name: 'nothing for a log' });
  const id = idOf(created.apiKey);
  const rotated = await send(`keys/${id}/rotate`, { overlapDays: 1 });
  const revoked = await send(`keys/${id}/revoke`, {});
  const repeated = await send(`keys/${id}/revoke`, {});
  const refused = await send(`keys/${id}/rotate`, {});
  const unknown = await send('keys/0123456789/revoke', {});
  const statuses = [created, rotated, revoked, repeated, refused, unknown].map(({ status }) => status);
  expect(statuses).toEqual([201, 201, 200, 200, 400, 404]);
  await stop();

  const { logged } = server.stdout;
  const lines = logged
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const changes = lines.filter(({ msg }) => msg === 'key changed');
  const added = { time: expect.any(Number), pid: expect.any(Number), hostname: expect.any(String) };
  const by = { ...added, level: 30, msg: 'key changed', tenantId: 1, keyId: idOf(apiKey) };
  expect(changes).toEqual([
    { ...by, requestId: created.request, change: 'created', targetKeyId: id },
    {
      ...by,
      requestId: rotated.request,
      change: 'rotated',
      targetKeyId: id,
      newKeyId: idOf(rotated.apiKey),
    },
    { ...by, requestId: revoked.request, change: 'revoked', targetKeyId: id },
  ]);
  const requests = lines.filter(({ msg }) => msg === 'request');
  expect(requests.map(({ route, keyId }) => [route, keyId])).toContainEqual([
    '/console/api/keys/:id/rotate',
    idOf(apiKey),
  ]);
  for (const { apiKey: secret } of [created, rotated, { apiKey }]) {
    expect(logged).not.toContain(secret);
    expect(logged).not.toContain(secret.slice(18));
  }
  expect(logged).not.toContain('nothing for a log');
});

test.each([
  ['by default', [], {}, {}, 200],
  ['by flag', ['--console', 'false'], {}, {}, 404],
  ['by variable', [], { ACTLOG_CONSOLE: 'false' }, {}, 404],
  ['by file', [], {}, { console: false }, 404],
])('serves the console or not: %s', async (_how, args, env, settings, status) => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'settings.json');
  writeFileSync(file, JSON.stringify(settings));
  const { url, apiKey, stop } = await started(['--config', file, ...args], env);
  const response = await fetch(`${url}/console/api/identity`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect(response.status).toBe(status);
  await stop();
});
