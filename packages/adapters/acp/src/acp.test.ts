import { Service } from '@actlog/adapter-suite';
import type { Recorder } from '@actlog/recorder';
import * as acp from '@agentclientprotocol/sdk';
import {
  type ClientContext,
  client,
  ndJsonStream,
  PROTOCOL_VERSION,
  type Stream,
} from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { permissionOptions, type ScriptedCall, scriptedAgent } from '../tests/scripted-agent.ts';
import { type AcpStream, type ActlogOptions, actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('delete_user', 'Ask Ines first.');
  await service.holdTool('send_money');
});
afterAll(() => service.close());

let count = 0;

function call(name: string, fields: Partial<ScriptedCall> = {}): ScriptedCall {
  return {
    toolCallId: `c${++count}`,
    name,
    rawInput: { id: 'u-1' },
    run: async () => `${name} done`,
    ...fields,
  };
}

interface Editor {
  readonly sessionId: string;
  readonly calls: readonly ScriptedCall[];
  readonly options: ActlogOptions;
  /** Option that the user chooses. Default: yes. */
  readonly choice?: string;
  /** Runs after the session has started. Default: sends a prompt. */
  readonly use?: (agent: ClientContext) => Promise<unknown>;
}

/** Runs an editor with an agent, and returns what the user was asked and what the agent got. */
async function runEditor({ sessionId, calls, options, choice = 'yes', use }: Editor) {
  const asked: string[] = [];
  const updates: string[] = [];
  const { app, results } = scriptedAgent([sessionId], () => [calls]);
  const editor = actlog(client({ name: 'editor' }), options)
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params.toolCall.toolCallId);
      return choice === 'cancelled'
        ? { outcome: { outcome: 'cancelled' } }
        : { outcome: { outcome: 'selected', optionId: choice } };
    })
    .onNotification('session/update', ({ params: { update } }) => {
      updates.push('status' in update ? `${update.sessionUpdate} ${update.status}` : update.sessionUpdate);
    });
  await editor.connectWith(app, async (agent) => {
    await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    await agent.request('session/new', { cwd: '/', mcpServers: [] });
    await (use ?? ((context) => prompt(context, sessionId)))(agent);
  });
  return { asked, updates, results };
}

function prompt(agent: ClientContext, sessionId: string) {
  return agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
}

const guarded = (recorder: Recorder = service.guarded()): ActlogOptions => ({ recorder });

test('asks the user about calls that the guard allows, and records them as they end', async () => {
  const broken = call('fails', {
    run: async () => {
      throw new Error('no');
    },
  });
  const calls = [call('read_user'), broken];
  const { asked, updates } = await runEditor({ sessionId: 'allowed', calls, options: guarded() });
  expect(asked).toEqual(calls.map(({ toolCallId }) => toolCallId));
  expect(updates).toHaveLength(4);
  expect((await service.callLines('allowed')).sort()).toEqual(['tester fails 500', 'tester read_user 200']);
});

test('rejects a denied call without asking the user, and tells the agent the reason', async () => {
  const { asked, results } = await runEditor({
    sessionId: 'denied',
    calls: [call('delete_user'), call('read_user')],
    options: guarded(),
  });
  expect(asked).toHaveLength(1);
  expect(results[0]).toMatchObject({ text: expect.stringContaining('Ask Ines first.'), isError: true });
  expect((await service.callLines('denied')).sort()).toEqual([
    'tester delete_user 403',
    'tester read_user 200',
  ]);
});

test.each([
  ['approve', 200, 1],
  ['deny', 403, 0],
] as const)('waits for the decision of a held call: %s', async (decision, status, timesAsked) => {
  const sessionId = `held ${decision}`;
  const run = runEditor({ sessionId, calls: [call('send_money')], options: guarded() });
  await service.held(sessionId);
  await service.decide(sessionId, decision);
  expect((await run).asked).toHaveLength(timesAsked);
  expect(await service.callLines(sessionId)).toEqual([`tester send_money ${status}`]);
});

test('passes on other messages while a call is held', async () => {
  const sessionId = 'meanwhile';
  const calls = [call('send_money'), call('read_user', { needsNoPermission: true })];
  const run = runEditor({ sessionId, calls, options: guarded() });
  await service.held(sessionId);
  await expect.poll(() => service.callLines(sessionId)).toEqual(['tester read_user 200']);
  await service.decide(sessionId, 'approve');
  await run;
  expect(await service.callLines(sessionId)).toHaveLength(2);
});

test('cancels a held call with its turn', async () => {
  const sessionId = 'canceled';
  const { asked } = await runEditor({
    sessionId,
    calls: [call('send_money')],
    options: guarded(),
    use: async (agent) => {
      const prompted = prompt(agent, sessionId);
      await service.held(sessionId);
      await agent.notify('session/cancel', { sessionId });
      expect(await prompted).toMatchObject({ stopReason: 'cancelled' });
    },
  });
  expect(asked).toEqual([]);
  expect(await service.callLines(sessionId)).toEqual(['tester send_money 499']);
});

test.each([
  ['no', 403],
  ['cancelled', 499],
  ['always', 200],
] as const)('records the choice of the user: %s', async (choice, status) => {
  const sessionId = `chosen ${choice}`;
  await runEditor({ sessionId, calls: [call('read_user')], options: guarded(), choice });
  await runEditor({
    sessionId,
    calls: [call('read_user')],
    options: { recorder: service.recorder() },
    choice,
  });
  const line = `tester read_user ${status}`;
  expect(await service.callLines(sessionId)).toEqual([line, line]);
});

test('allows calls without asking if told so, once', async () => {
  const sessionId = 'unasked';
  const { asked, results } = await runEditor({
    sessionId,
    calls: [call('read_user'), call('delete_user')],
    options: { ...guarded(), allowWithoutAsking: true },
    choice: 'no',
  });
  expect(asked).toEqual([]);
  expect(results.map(({ isError }) => isError)).toEqual([false, true]);
});

test('records a call for which the agent requests no permission, and cannot stop it', async () => {
  const calls = [call('delete_user', { needsNoPermission: true })];
  const { results } = await runEditor({ sessionId: 'unguarded', calls, options: guarded() });
  expect(results).toEqual([{ text: 'delete_user done', isError: false }]);
  expect(await service.callLines('unguarded')).toEqual(['tester delete_user 200']);
});

/** Connects an editor over bytes with an agent that is written by hand, as a list of messages. */
async function connectBytes(
  options: ActlogOptions,
  respond: (
    message: { id?: number; method?: string; params?: never },
    send: (message: object) => void,
  ) => void,
) {
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const toEditor = new TransformStream<Uint8Array, Uint8Array>();
  const { readable } = ndJsonStream(new WritableStream(), toAgent.readable);
  const writer = toEditor.writable.getWriter();
  const send = (message: object) => {
    const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
    void writer.write(new TextEncoder().encode(line));
  };
  void (async () => {
    const reader = readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read())
      respond(next.value as never, send);
  })();
  const stream: Stream = actlog(ndJsonStream(toAgent.writable, toEditor.readable), options);
  const editor = client({ name: 'editor' })
    .onRequest('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }))
    .onNotification('session/update', () => {});
  return { connection: editor.connect(stream), hangUp: () => writer.close() };
}

function update(sessionId: string, toolCallId: string, fields: object) {
  const change = { sessionUpdate: 'tool_call_update', toolCallId, title: 'x', ...fields };
  return { method: 'session/update', params: { sessionId, update: change } };
}

test('records what is left of a turn, and nothing of a history that is loaded', async () => {
  const sessionId = 'loaded';
  const { connection, hangUp } = await connectBytes(
    { recorder: service.recorder() },
    ({ id, method }, send) => {
      if (method === 'initialize') send({ id, result: { protocolVersion: 1 } });
      if (method === 'session/load') {
        send(update(sessionId, 'old', { sessionUpdate: 'tool_call', kind: 'read', status: 'completed' }));
        send({ id, result: {} });
      }
      if (method !== 'session/prompt') return;
      send(update(sessionId, 'old', { status: 'completed' }));
      send(update(sessionId, 'new', { sessionUpdate: 'tool_call', kind: 'edit', status: 'pending' }));
      send(update(sessionId, 'new', { status: 'completed' }));
      send(update(sessionId, 'new', { status: 'completed' }));
      send(update(sessionId, 'left', { kind: 'execute', status: 'in_progress' }));
      send({ id, result: { stopReason: 'end_turn' } });
    },
  );
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  await agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] });
  await prompt(agent, sessionId);
  expect(await service.callLines(sessionId)).toEqual(['tester edit 200', 'tester execute 202']);
  await hangUp();
  await connection.closed;
});

test('records calls that are open when the agent ends with status 499, held ones as well', async () => {
  const sessionId = 'hung up';
  const { connection, hangUp } = await connectBytes(guarded(), ({ id, method }, send) => {
    if (method === 'initialize') send({ id, result: { protocolVersion: 1 } });
    if (method !== 'session/prompt') return;
    send(update(sessionId, 'running', { kind: 'execute', status: 'in_progress' }));
    const toolCall = { toolCallId: 'held', name: 'send_money', title: 'Send' };
    send({
      id: 7,
      method: 'session/request_permission',
      params: { sessionId, toolCall, options: permissionOptions },
    });
  });
  await connection.agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const prompted = prompt(connection.agent, sessionId).catch(() => {});
  await service.held(sessionId);
  await hangUp();
  await connection.closed;
  await prompted;
  await expect
    .poll(async () => (await service.callLines(sessionId)).sort())
    .toEqual(['tester execute 499', 'tester send_money 499']);
});

test('refuses what it cannot record, and options without effect', () => {
  expect(() => actlog({ guard: { mode: 'enforce', onUnavailable: 'deny' } } as never)).toThrow(
    /^guard has no effect in the first argument: .*actlog\(app, \{ guard \}\)/,
  );
  expect(() => actlog({ sessionUpdate() {} } as never)).toThrow('target must be a ClientApp');
  const recorder = service.recorder();
  expect(() => actlog(client(), { recorder, allowWithoutAsking: true })).toThrow('requires a guard');
  expect(() => actlog(client(), { recorder, allowWithoutAsking: 1 as never })).toThrow('must be a boolean');
  expect(() => actlog(client(), { recorder, askUser: true } as never)).toThrow('"askUser" is not an option');
});

/** Connections of the SDK before 2.0. */
type Connection = new (
  create: () => object,
  stream: AcpStream,
) => { initialize(params: object): Promise<unknown>; prompt(params: object): Promise<unknown> };

// SDK 2 has none.
if ('ClientSideConnection' in acp) {
  test('records over the stream of a ClientSideConnection', async () => {
    const { app } = scriptedAgent([], () => [[call('delete_user'), call('read_user')]]);
    const [toAgent, toEditor] = [new TransformStream(), new TransformStream()];
    app.connect({ readable: toAgent.readable, writable: toEditor.writable });
    const Connection = (acp as unknown as { ClientSideConnection: Connection }).ClientSideConnection;
    const handler = {
      requestPermission: () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }),
      sessionUpdate: () => {},
    };
    const stream = actlog({ readable: toEditor.readable, writable: toAgent.writable }, guarded());
    const connection = new Connection(() => handler, stream);
    await connection.initialize({ protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    await connection.prompt({ sessionId: 'before 2.0', prompt: [{ type: 'text', text: 'go' }] });
    expect((await service.callLines('before 2.0')).sort()).toEqual([
      'tester delete_user 403',
      'tester read_user 200',
    ]);
  });
}
