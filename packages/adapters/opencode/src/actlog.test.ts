import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Host, type HostTool } from '../tests/host.ts';
import { type ActlogOptions, actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
  await service.holdTool('pay');
});
afterAll(() => service.close());

const echo = { tool: 'echo', args: { text: 'x' } };
const fail = { tool: 'fail', args: {} };
const pay = { tool: 'pay', args: {} };

function throwing(text: string): HostTool {
  return async () => {
    throw new Error(text);
  };
}

/** Creates a host with the plugin, and tools that note when they run. */
async function hostWith(tools: Readonly<Record<string, HostTool>> = {}, options: ActlogOptions = {}) {
  const ran: string[] = [];
  const noting =
    (name: string): HostTool =>
    async () => {
      ran.push(name);
      return `ran ${name}`;
    };
  const own = { echo: noting('echo'), fail: noting('fail'), pay: noting('pay') };
  const host = new Host({ ...own, ...tools });
  const recorder = options.recorder ?? service.guarded();
  const hooks = await actlog({ client: host.client }, { ...options, recorder });
  host.plugins.push(hooks);
  return { host, hooks, ran, recorder };
}

/** Returns the recorded calls of a session as lines, such as `echo 200`. */
async function lines(sessionId: string): Promise<string[]> {
  return (await service.callLines(sessionId)).map((line) => line.replace('tester ', ''));
}

test('records the calls of subagents in the session of the chat, with their names beside the agent', async () => {
  const { host, ran } = await hostWith();
  host.start({ id: 'chat' });
  host.start({ id: 'child', parentID: 'chat', agent: 'reviewer' });
  host.start({ id: 'grandchild', parentID: 'child', agent: 'explore' }, true);
  await host.prompt('chat', 'go', [[echo]]);
  await host.prompt('child', 'go', [[echo]]);
  await host.prompt('grandchild', 'go', [[echo, fail]]);
  expect(ran).toEqual(['echo', 'echo', 'echo']);
  expect(await lines('chat')).toHaveLength(4);
  expect((await service.innerCalls('chat')).sort()).toEqual([
    'tester · explore: echo',
    'tester · explore: fail',
    'tester · reviewer: echo',
  ]);
});

test("records a call that opencode's own permissions refuse as denied", async () => {
  const refused = throwing('The user rejected permission to use this specific tool call.');
  const ruled = throwing(
    'The user has specified a rule which prevents you from using this specific tool call. Here are some of the rules',
  );
  const { host } = await hostWith({ refused, ruled });
  host.start({ id: 'permissions' });
  await host.prompt('permissions', 'go', [[{ tool: 'refused', args: {} }], [{ tool: 'ruled', args: {} }]]);
  expect(await lines('permissions')).toEqual(['refused 403', 'ruled 403']);
});

test('records the texts of MCP servers only if they are about the tool', async () => {
  const { host } = await hostWith({
    shop_find: throwing('MCP error -32602: Tool find not found'),
    shop_list: throwing('MCP error -32602: Tool find not found'),
  });
  host.start({ id: 'servers' });
  await host.prompt('servers', 'go', [[{ tool: 'shop_find', args: {} }], [{ tool: 'shop_list', args: {} }]]);
  expect(await lines('servers')).toEqual(['shop_find 404', 'shop_list 500']);
});

test('records the error results of MCP servers', async () => {
  const { hooks } = await hostWith();
  for (const [place, path] of refusedPaths.entries()) {
    const call = { tool: 'read', sessionID: 'results', callID: String(place) };
    await hooks['tool.execute.before']?.(call, { args: { path } });
    await hooks['tool.execute.after']?.(
      { ...call, args: { path } },
      mcpErrorResult(refusalOf(path)) as never,
    );
  }
  expect((await service.events('results')).map(({ status }) => status)).toEqual(refusedStatuses);
});

test('records a command by its exit code', async () => {
  const { hooks } = await hostWith();
  for (const [exit, callID] of [
    [0, 'a'],
    [3, 'b'],
    [null, 'c'],
  ] as const) {
    const call = { tool: 'bash', sessionID: 'commands', callID };
    await hooks['tool.execute.before']?.(call, { args: {} });
    const output = { title: '', output: '', metadata: { exit } };
    await hooks['tool.execute.after']?.({ ...call, args: {} }, output);
  }
  expect(await lines('commands')).toEqual(['bash 200', 'bash 500', 'bash 500']);
});

test('a held call of a subagent never runs once the chat is aborted', async () => {
  const { host, ran } = await hostWith();
  host.start({ id: 'aborted' });
  host.start({ id: 'aborted-child', parentID: 'aborted', agent: 'general' });
  const run = host.prompt('aborted-child', 'go', [[pay]]);
  const { id } = await service.held('aborted');
  host.emit('session.error', { sessionID: 'aborted', error: { name: 'MessageAbortedError', data: {} } });
  expect(await run).toMatchObject([{ isError: true }]);
  await service.client.guardian.pendingActions.decide(id, { decision: 'approve' });
  expect(ran).toEqual([]);
  expect(await lines('aborted')).toEqual(['pay 499']);
});

test('records calls without an end when their session or opencode ends', async () => {
  const { hooks, host, recorder } = await hostWith();
  const begin = (sessionID: string) =>
    hooks['tool.execute.before']?.({ tool: 'echo', sessionID, callID: '1' }, { args: {} });
  for (const id of ['idle', 'deleted', 'disposed']) {
    host.start({ id });
    await begin(id);
  }
  host.emit('session.idle', { sessionID: 'idle' });
  host.emit('session.deleted', { info: { id: 'deleted' } });
  const flush = vi.spyOn(recorder, 'flush');
  await hooks.dispose?.();
  expect(flush).toHaveBeenCalledOnce();
  for (const id of ['idle', 'deleted', 'disposed']) expect(await lines(id)).toEqual(['echo 499']);
});

test('ends the sessions of a model that repeats a denied call, also by subagents, until the next prompt', async () => {
  const { host } = await hostWith();
  const abort = vi.spyOn(host, 'abort').mockImplementation(() => {});
  host.start({ id: 'repeating' });
  for (let number = 1; number <= 5; number += 1) {
    const id = `repeating-${number}`;
    host.start({ id, parentID: 'repeating', agent: 'general' });
    const results = await host.prompt(
      id,
      'go',
      Array.from({ length: 5 }, () => [fail]),
    );
    expect(results.at(-1)?.text).toContain('The run was ended because the model repeated the call.');
    expect(abort).toHaveBeenLastCalledWith(number < 5 ? id : 'repeating');
  }
  expect(abort).toHaveBeenCalledTimes(6);
  await host.prompt('repeating', 'go on', [[fail]]);
  expect(abort).toHaveBeenCalledTimes(6);
});

test('takes only what people wrote in the chat for their text', async () => {
  const { host } = await hostWith({}, { recorder: service.recorder({ origins: true }) });
  const values = ['kim@payments.example', 'The content of a file.', 'fixed@support.example'];
  host.start({ id: 'origins', system: `Reply from ${values[2]}.` });
  const calls = values.map((to) => ({ tool: 'echo', args: { to } }));
  await host.prompt('origins', `Write to ${values[0]}.`, [calls]);
  host.start({ id: 'origins-child', parentID: 'origins', agent: 'general' });
  const other = { tool: 'pay', args: { to: 'other@northwind.example' } };
  await host.prompt('origins-child', `Write to ${other.args.to}.`, [[other]]);
  const seen = async (tool: string) =>
    (await service.argumentOrigins('origins', tool)).map(({ origins }) => origins.to?.from);
  expect(await seen('echo')).toEqual(['user', 'model', 'system']);
  expect(await seen('pay')).toEqual(['model']);
});

test('refuses options that opencode.json has in the wrong form', async () => {
  const { client } = new Host({});
  await expect(actlog({ client }, { guards: {} } as never)).rejects.toThrow(
    /^"guards" is not an option: .*"plugin": \[\["@actlog\/opencode"/,
  );
});

test('has no export beside the plugin, because opencode would call it', async () => {
  expect(Object.keys(await import('./index.ts'))).toEqual(['actlog']);
});
