import { type Service, secondCopy, startSuiteService, suiteTools } from '@actlog/adapter-suite';
import { Server as V1Server } from '@modelcontextprotocol/sdk/server/index.js';
import { Server as V2Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as v1 from '../tests/sdk-v1.ts';
import * as v2 from '../tests/sdk-v2.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await startSuiteService();
});
afterAll(() => service.close());

test.each([
  ['v1', v1],
  ['v2', v2],
] as const)('%s: a client and a server in one process count each call once', async (version, sdk) => {
  const options = { recorder: service.recorder(), sessionId: `both-${version}` };
  const server = actlog(sdk.emptyServer(), options);
  sdk.register(server as never, suiteTools().all);
  const client = actlog(sdk.newClient(), options);
  await sdk.connectInMemory(client as never, server as never);
  const echo = (text: string) => client.callTool({ name: 'echo', arguments: { text } });
  await Promise.all([echo('a'), echo('a'), client.callTool({ name: 'fail', arguments: { text: 'b' } })]);
  const events = await service.events(options.sessionId);
  expect(events.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
    'echo 200',
    'echo 200',
    'fail 500',
  ]);
});

test('counts each call once with a client and a server of two copies of the package', async () => {
  const second = await secondCopy(() => import('./index.ts'));
  expect(second.actlog).not.toBe(actlog);
  const options = { recorder: service.recorder(), sessionId: 'two-copies' };
  const server = second.actlog(v1.emptyServer(), options);
  v1.register(server, suiteTools().all);
  const client = actlog(v1.newClient(), options);
  await v1.connectInMemory(client, server);
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  expect(await service.events('two-copies')).toHaveLength(1);
});

test('records a tool that calls a tool of another server as two calls', async () => {
  const options = { recorder: service.recorder(), sessionId: 'gateway' };
  const upstream = v1.emptyServer();
  v1.register(upstream, suiteTools().all);
  const upstreamClient = actlog(v1.newClient(), options);
  await v1.connectInMemory(upstreamClient, upstream);
  const gateway = actlog(v1.emptyServer(), options);
  const relay = async ({ text }: { readonly text: string }) => {
    const { content } = await upstreamClient.callTool({ name: 'echo', arguments: { text } });
    return (content as { text: string }[])[0]?.text ?? '';
  };
  v1.register(gateway, [{ name: 'echo', run: relay }]);
  const client = actlog(v1.newClient(), options);
  await v1.connectInMemory(client, gateway);
  const { content } = await client.callTool({ name: 'echo', arguments: { text: 'far' } });
  expect(content).toEqual([{ type: 'text', text: 'echo: far' }]);
  expect(await service.events('gateway')).toHaveLength(2);
});

test.each([
  ['v1', v1, V1Server],
  ['v2', v2, V2Server],
] as const)(
  "%s: checks a forwarded call with the guard of the gateway's client",
  async (version, sdk, Server) => {
    const options = { recorder: service.recorder(), sessionId: `passed-on-${version}` };
    const tools = suiteTools();
    const upstream = sdk.emptyServer();
    sdk.register(upstream as never, tools.all);
    const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;
    const upstreamClient = actlog(sdk.newClient(), { ...options, guard });
    await sdk.connectInMemory(upstreamClient as never, upstream as never);
    const gateway = new Server({ name: 'gateway', version: '1.0.0' }, { capabilities: { tools: {} } });
    gateway.fallbackRequestHandler = ({ params }: { params?: unknown }) =>
      upstreamClient.callTool(params as never) as never;
    const client = actlog(sdk.newClient(), options);
    await sdk.connectInMemory(client as never, gateway as never);
    const call = (name: string) => client.callTool({ name, arguments: { text: 'a' } });
    expect(await call('fail')).toMatchObject({ isError: true });
    const held = call('echo');
    await service.decide(options.sessionId, 'approve');
    expect(await held).toMatchObject({ content: [{ text: 'echo: a' }] });
    expect(tools.ran).toEqual(['echo a']);
    expect(await service.events(options.sessionId)).toMatchObject([
      { toolName: 'fail', status: 403 },
      { toolName: 'echo', status: 200 },
    ]);
  },
);
