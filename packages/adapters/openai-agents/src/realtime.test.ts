import { Service } from '@actlog/adapter-suite';
import { Agent, tool } from '@openai/agents';
import { RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';
import { ScriptedRealtimeTransport } from '@openai/agents/realtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
});
afterAll(() => service.close());

/** Starts a session of an agent whose model is controlled by the test. */
async function talkTo(agent: RealtimeAgent) {
  const transport = new ScriptedRealtimeTransport();
  const session = new RealtimeSession(agent, { transport, model: 'scripted' });
  await session.connect({ apiKey: 'none' });
  let calls = 0;
  const ask = (name: string, args: unknown) => {
    calls += 1;
    const id = `call_${calls}`;
    const call = { id, callId: id, responseId: `response_${calls}`, name, arguments: JSON.stringify(args) };
    transport.emit('function_call', { type: 'function_call', ...call });
  };
  return {
    /** Returns the tool result that the model received. */
    call: (name: string, args: unknown) =>
      new Promise<string>((resolve) => {
        session.once('agent_tool_end', (_context, _agent, _tool, result) => resolve(result));
        ask(name, args);
      }),
    handOver: (to: string) =>
      new Promise<void>((resolve) => {
        session.once('agent_handoff', () => resolve());
        ask(`transfer_to_${to}`, {});
      }),
    close: () => session.close(),
  };
}

test('records and guards functions of a realtime agent, with one session each', async () => {
  const recorder = service.guarded();
  const { echo, fail, ran } = tools();
  const agent = new RealtimeAgent({ name: 'voice', tools: [echo, fail] });
  actlog(agent, { recorder });
  for (let talk = 0; talk < 2; talk += 1) {
    const { call, close } = await talkTo(agent);
    expect(await call('echo', { text: 'a' })).toBe('echo: a');
    expect(await call('fail', {})).toContain('Never fail.');
    close();
  }
  expect(ran).toEqual(['echo a', 'echo a']);
  await recorder.flush();
  const sessions = await service.client.agents.sessions('voice').toArray({ limit: 10 });
  const recorded = await Promise.all(sessions.map(({ id }) => service.events(id)));
  expect(recorded.map((events) => events.map(({ status }) => status))).toEqual([
    [200, 403],
    [200, 403],
  ]);
});

test('covers an agent that the conversation is handed over to', async () => {
  const recorder = service.recorder();
  const other = new RealtimeAgent({ name: 'other', tools: [tools().echo] });
  const first = new RealtimeAgent({ name: 'first', handoffs: [other] });
  actlog(first, { recorder, sessionId: 'of-the-first' });
  for (const isProcess of [false, true]) {
    const end = isProcess ? actlog.install({ recorder, sessionId: 'of-the-process' }) : () => {};
    const { call, handOver, close } = await talkTo(first);
    await handOver('other');
    await call('echo', { text: 'a' });
    close();
    end();
  }
  // The agent that reached it is nearer than the process.
  const call = { agentId: 'other', toolName: 'echo' };
  expect(await service.events('of-the-first')).toMatchObject([call, call]);
  expect(await service.events('of-the-process')).toEqual([]);
});

test("uses the conversation's session for an agent run by a function", async () => {
  const recorder = service.recorder({ agentId: 'delegating' });
  const helper = new Agent({
    name: 'helper',
    model: modelOf([[{ name: 'echo', args: { text: 'deep' } }]]),
    tools: [tools().echo],
  });
  const ask = helper.asTool({ toolName: 'ask', toolDescription: 'Asks the helper.' });
  const end = actlog.install({ recorder, agentId: 'delegating' });
  const { call, close } = await talkTo(new RealtimeAgent({ name: 'voice', tools: [ask] }));
  expect(await call('ask', { input: 'please' })).toBe('done');
  close();
  end();
  await recorder.flush();
  const [session, ...others] = await service.client.agents.sessions('delegating').toArray({ limit: 10 });
  expect(others).toEqual([]);
  expect((await service.events(session?.id ?? '')).map(({ toolName }) => toolName)).toEqual(['echo', 'ask']);
});

test('records a function timeout as 408, whatever its message', async () => {
  const slow = tool({
    name: 'slow',
    description: 'Takes its time.',
    parameters: z.object({}),
    timeoutMs: 5,
    timeoutErrorFunction: () => 'it is late',
    execute: () => new Promise<string>(() => {}),
  });
  const agent = new RealtimeAgent({ name: 'voice', tools: [slow] });
  actlog(agent, { recorder: service.recorder(), sessionId: 'slow-voice' });
  const { call, close } = await talkTo(agent);
  expect(await call('slow', {})).toBe('it is late');
  close();
  expect(await service.events('slow-voice')).toMatchObject([{ toolName: 'slow', status: 408 }]);
});
