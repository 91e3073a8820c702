import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Actlog } from '@actlog/client';
import { expect, test } from 'vitest';
import { DeniedTools } from '../src/tools/denied-tools.ts';
import { RawGateway, testServer, textOf } from './raw-gateway.ts';
import { serviceOfFile } from './service.ts';

const { service, open, archive } = await serviceOfFile();

const enforce = ['--guard', 'enforce', '--on-unavailable', 'allow'];
const tools = ['read', 'write', 'drop'].map((name) => ({ name, inputSchema: { type: 'object' } }));

async function start(agent: string, options: readonly string[], env: Record<string, string> = {}) {
  const list = join(service.newFolder(), 'list');
  writeFileSync(list, JSON.stringify({ pages: [tools] }));
  const server = testServer('listing-server.ts', list);
  const gateway = RawGateway.start(service.environment(env), server, [...enforce, ...options]);
  open.push(gateway);
  await gateway.initialize(agent);
  return gateway;
}

let nextId = 100;

async function names(gateway: RawGateway): Promise<string[]> {
  const id = ++nextId;
  gateway.send({ jsonrpc: '2.0', id, method: 'tools/list' });
  const { result } = await gateway.message((message) => message.id === id);
  return (result as unknown as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

test('hides a tool that is always denied, and still denies and records its calls', async () => {
  archive.push(await service.policy('deny', ['db.drop']));
  archive.push(await service.policy('deny', ['db.write'], { condition: 'args.table == "users"' }));
  archive.push(await service.policy('deny', ['db.read'], { mode: 'log_only' }));
  const gateway = await start('hides', ['--tool-prefix', 'db.']);
  expect(await names(gateway)).toEqual(['read', 'write']);
  gateway.call(1, 'drop');
  expect(textOf(await gateway.message(({ id }) => id === 1))).toContain(
    'it was denied by policy "deny db.drop"',
  );
  expect(await service.calls('hides', 1)).toMatchObject([{ toolName: 'db.drop', status: 403 }]);
});

test.each([
  ['a schedule', { schedule: { timeZone: 'UTC', from: '00:00', to: '23:59' } }],
  ['a rate', { rate: { max: 1, windowSeconds: 60, per: 'agent' as const } }],
  ['another agent', { match: { agents: ['other'], tools: ['drop'] } }],
  ['another environment', { match: { environments: ['staging'], tools: ['drop'] } }],
  ['a hold', { effect: 'require_approval' as const }],
])('lists a tool that is denied only with %s', async (_, more) => {
  archive.push(await service.policy('deny', ['drop'], more));
  const gateway = await start('lists', [], { ACTLOG_ENVIRONMENT: 'production' });
  expect(await names(gateway)).toEqual(['read', 'write', 'drop']);
});

test('notifies the client when a tool that it knows turns out to be always denied', async () => {
  const gateway = await start('learns', []);
  expect(await names(gateway)).toEqual(['read', 'write', 'drop']);
  archive.push(await service.policy('deny', ['drop']));
  gateway.call(1, 'drop');
  await gateway.message(({ method }) => method === 'notifications/tools/list_changed');
  expect(await names(gateway)).toEqual(['read', 'write']);
});

test('notices regularly that the policies have changed', async () => {
  const client = new Actlog({ baseURL: service.url, apiKey: service.agentKey });
  const denied = new DeniedTools({ client, refreshMs: 10 });
  const caller = { sessionId: 's', agentId: 'regular' };
  const changed = Promise.withResolvers<string>();
  denied.onChange(changed.resolve);
  expect(await denied.of(['read', 'drop'], caller, true)).toEqual(new Set());
  archive.push(await service.policy('deny', ['drop'], { match: { agents: ['regular'], tools: ['drop'] } }));
  expect(await changed.promise).toBe('regular');
  expect(await denied.of(['read', 'drop'], caller, true)).toEqual(new Set(['drop']));
  denied.close();
});

test('lists all tools while the service is unreachable, unless hidden ones are kept', async () => {
  archive.push(await service.policy('deny', ['drop']));
  const gateway = await start('unreachable', [], { ACTLOG_BASE_URL: 'http://127.0.0.1:9' });
  expect(await names(gateway)).toEqual(['read', 'write', 'drop']);
  let isReachable = true;
  const route = async (input: string | URL | Request, init?: RequestInit) => {
    if (!isReachable) throw new TypeError('fetch failed');
    return fetch(input, init);
  };
  for (const keepsHidden of [false, true]) {
    isReachable = true;
    const client = new Actlog({ baseURL: service.url, apiKey: service.agentKey, fetch: route });
    const denied = new DeniedTools({ client, keepsHidden });
    const caller = { sessionId: 's', agentId: 'kept' };
    expect(await denied.of(['drop'], caller, true)).toEqual(new Set(['drop']));
    isReachable = false;
    expect(await denied.of(['drop'], caller, true)).toEqual(new Set(keepsHidden ? ['drop'] : []));
    denied.close();
  }
});

test('lists all tools with --denied-tools list, and if the guard does not enforce', async () => {
  archive.push(await service.policy('deny', ['drop']));
  expect(await names(await start('list', ['--denied-tools', 'list']))).toHaveLength(3);
  expect(await names(await start('observes', ['--guard', 'observe']))).toHaveLength(3);
});
