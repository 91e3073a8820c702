import { type Service, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer, Server as ServerV2 } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as v1 from '../tests/sdk-v1.ts';
import * as v2 from '../tests/sdk-v2.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await startSuiteService();
});
afterAll(() => service.close());

const failing = { name: 'fail', arguments: { text: 'x' } };

test.each([
  ['v1', v1],
  ['v2', v2],
] as const)('%s: records tools registered earlier, including their errors', async (version, sdk) => {
  const server = sdk.emptyServer();
  sdk.register(server as never, suiteTools().all);
  actlog(server, { recorder: service.recorder(), sessionId: `late-${version}` });
  const client = sdk.newClient();
  await sdk.connectInMemory(client as never, server as never);
  const answer = await client.callTool(failing);
  expect(answer).toMatchObject({ isError: true, content: [{ text: 'it broke' }] });
  expect(await service.events(`late-${version}`)).toMatchObject([{ status: 502 }]);
});

test.each([
  ['v1', v1],
  ['v2', v2],
] as const)('%s: records the trace that a request states in its _meta', async (version, sdk) => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const server = sdk.emptyServer();
  sdk.register(server as never, suiteTools().all);
  const sessionId = `traced-${version}`;
  actlog(server, { recorder: service.recorder(), sessionId });
  const client = sdk.newClient();
  await sdk.connectInMemory(client as never, server as never);
  await client.callTool({ ...failing, _meta: { traceparent } });
  await client.callTool({ ...failing, _meta: { traceparent: 7 } } as never);
  const events = await service.storedEvents(sessionId);
  expect(events.map((event) => event.traceparent ?? null)).toEqual([traceparent, null]);
});

test.each([
  ['v1', v1, Server],
  ['v2', v2, ServerV2],
] as const)('%s: records and guards a gateway with a fallback handler', async (version, sdk, Low) => {
  const ran: unknown[] = [];
  const sessionId = `gateway-${version}`;
  const gatewayOf = (guarded: boolean) => {
    const server = new Low({ name: 'gateway', version: '1.0.0' }, { capabilities: { tools: {} } });
    const passOn = async ({
      method,
      params,
    }: {
      method: string;
      params?: Record<string, unknown> | undefined;
    }) => {
      ran.push(method === 'tools/call' ? params?.name : method);
      return method === 'tools/list' ? { tools: [] } : { content: [] };
    };
    if (guarded) server.fallbackRequestHandler = passOn;
    actlog(server, { recorder: guarded ? service.guarded() : service.recorder(), sessionId });
    if (!guarded) server.fallbackRequestHandler = passOn;
    return server;
  };
  const calling = async (server: ReturnType<typeof gatewayOf>) => {
    const client = sdk.newClient();
    await sdk.connectInMemory(client as never, server as never);
    await client.listTools();
    return client.callTool({ name: 'wipe' });
  };
  await calling(gatewayOf(false));
  const { policies } = service.client;
  const { id } = await policies.create({ name: 'no', effect: 'deny', match: { tools: ['wipe'] } });
  expect(await calling(gatewayOf(true))).toMatchObject({ isError: true });
  await policies.archive(id);
  expect(ran).toEqual(['tools/list', 'wipe', 'tools/list']);
  expect((await service.events(sessionId)).map(({ status }) => status)).toEqual([200, 403]);
});

test('records tools of a server that declares its own capabilities', async () => {
  const server = new McpServer({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: {} } });
  actlog(server, { recorder: service.recorder(), sessionId: 'capabilities' });
  v2.register(server, suiteTools().all);
  const client = v2.newClient();
  await v2.connectInMemory(client, server);
  await client.callTool(failing);
  expect(await service.events('capabilities')).toMatchObject([{ toolName: 'fail', status: 502 }]);
});

test('records the error of a replaced tool function', async () => {
  const server = actlog(v1.emptyServer(), { recorder: service.recorder(), sessionId: 'updated' });
  const tool = server.registerTool('swap', { description: 'Changes.' }, () => ({ content: [] }));
  const client = v1.newClient();
  await v1.connectInMemory(client, server);
  await client.callTool({ name: 'swap' });
  tool.update({
    callback: () => {
      throw Object.assign(new Error('gone'), { status: 410 });
    },
  });
  await client.callTool({ name: 'swap' });
  tool.disable();
  await client.callTool({ name: 'swap' }).catch(() => {});
  expect((await service.events('updated')).map(({ status }) => status)).toEqual([200, 410, 404]);
});

test('records and guards a Server with its own handler', async () => {
  const options = { recorder: service.guarded(), sessionId: 'low-level' };
  const server = actlog(
    new Server({ name: 'own', version: '1.0.0' }, { capabilities: { tools: {} } }),
    options,
  );
  const ran: string[] = [];
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    ran.push(params.name);
    return { content: [{ type: 'text', text: 'fine' }] };
  });
  const client = v1.newClient();
  await v1.connectInMemory(client, server as never);
  const denied = await client.callTool(failing);
  expect(denied.content).toEqual([{ type: 'text', text: expect.stringContaining('Never fail.') }]);
  expect(await client.callTool({ name: 'plain' })).toEqual({ content: [{ type: 'text', text: 'fine' }] });
  expect(ran).toEqual(['plain']);
  expect(await service.events('low-level')).toMatchObject([{ status: 403 }, { status: 200 }]);
});

test('uses the OAuth client as the agent', async () => {
  const server = actlog(v1.emptyServer(), { recorder: service.recorder(), sessionId: 'oauth' });
  v1.register(server, suiteTools().all);
  const client = v1.newClient();
  await v1.connectInMemory(client, server);
  const { transport } = client;
  const send = transport?.send.bind(transport) as (message: unknown, options?: object) => Promise<void>;
  const authInfo = { token: 'secret', clientId: 'desktop-app', scopes: [] };
  Object.assign(transport ?? {}, { send: (message: unknown) => send(message, { authInfo }) });
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  expect(await service.events('oauth')).toMatchObject([{ agentId: 'desktop-app' }]);
});

test('rejects a target that is neither a client nor a server', () => {
  const recorder = service.recorder();
  expect(() => actlog({ server: {} } as never, { recorder })).toThrow(
    'must be a Client, McpServer or Server',
  );
});
