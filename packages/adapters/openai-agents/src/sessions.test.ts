import { randomUUID } from 'node:crypto';
import { Service } from '@actlog/adapter-suite';
import type { Recorder } from '@actlog/recorder';
import {
  Agent,
  type AgentInputItem,
  handoff,
  MemorySession,
  Runner,
  run,
  setTraceProcessors,
  setTracingDisabled,
  user,
  withTrace,
} from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

type RunOnce = (
  input?: AgentInputItem[],
  options?: { session?: MemorySession; conversationId?: string; previousResponseId?: string },
  runner?: Runner,
) => Promise<{ readonly lastResponseId: string | undefined }>;

/** Runs agents that call a tool twice, under their own agent id, and returns the resulting sessions. */
async function sessionsOf(agentId: string, runs: (run: RunOnce) => Promise<unknown>): Promise<string[]> {
  const recorder = service.recorder({ agentId });
  const { echo } = tools();
  await runs((input, options, runner = new Runner()) => {
    const model = modelOf([[{ name: 'echo', args: { text: 'a' } }], [{ name: 'echo', args: { text: 'b' } }]]);
    const agent = actlog(new Agent({ name: 'a', model, tools: [echo] }), { recorder, agentId });
    return runner.run(agent, input ?? 'go', options);
  });
  await recorder.flush();
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  expect(sessions.reduce((sum, { eventCount }) => sum + (eventCount ?? 0), 0) % 2).toBe(0);
  return sessions.map(({ id }) => id);
}

const echoCall = () => [functionCall('echo', { text: 'a' }, { callId: `call_${randomUUID()}` })];
const echoTurn = () => [echoCall(), [assistantMessage('Done.')]];

/** Returns messages as a store would give them back. */
const rebuilt = (messages: AgentInputItem[]): AgentInputItem[] => JSON.parse(JSON.stringify(messages));

async function sessionsBy(recorder: Recorder, agentId: string): Promise<string[]> {
  await recorder.flush();
  const sessions = await service.client.agents.sessions(agentId).toArray({ limit: 10 });
  return sessions.map(({ id }) => id);
}

test("uses the run's session, conversation or trace group, in this order", async () => {
  const session = new MemorySession({ sessionId: 'of-the-session' });
  expect(await sessionsOf('s-1', (run) => run(undefined, { session }))).toEqual(['of-the-session']);
  const conversationId = 'of-the-conversation';
  const grouped = new Runner({ groupId: 'of-the-group' });
  const byConversation = await sessionsOf('s-2', (run) => run(undefined, { conversationId }, grouped));
  expect(byConversation).toEqual([conversationId]);
  expect(await sessionsOf('s-3', (run) => run(undefined, {}, grouped))).toEqual(['of-the-group']);
});

test('uses the surrounding session.run otherwise', async () => {
  const surrounding = service.recorder().session('surrounding');
  expect(await sessionsOf('s-4', (run) => surrounding.run(() => run()))).toEqual(['surrounding']);
});

test('uses the conversation, identified by its first message, otherwise', async () => {
  const history: AgentInputItem[] = [user('go')];
  const ids = await sessionsOf('s-5', async (run) => {
    await run(history);
    await run([...history, user('go on')]);
  });
  expect(ids).toEqual([expect.stringMatching(/^a-[0-9a-f-]{36}$/)]);
});

test('uses the run whose response it continues from otherwise', async () => {
  const ids = await sessionsOf('s-8', async (run) => {
    const { lastResponseId: previousResponseId = '' } = await run();
    await run(undefined, { previousResponseId });
    await run(undefined, { previousResponseId: 'resp-of-another-process' });
  });
  expect(ids).toHaveLength(2);
});

test('uses the trace, which may contain several runs, otherwise', async () => {
  setTraceProcessors([]);
  setTracingDisabled(false);
  const traceIds: string[] = [];
  const ids = await sessionsOf('s-6', (run) =>
    withTrace('two runs', async ({ traceId }) => {
      traceIds.push(traceId);
      await run();
      await run();
    }),
  );
  setTracingDisabled(true);
  expect(ids).toEqual(traceIds);
});

test('uses the trace for runs that start with messages, unless these continue a conversation', async () => {
  setTraceProcessors([]);
  setTracingDisabled(false);
  const traceIds: string[] = [];
  const { echo } = tools();
  const recorder = service.recorder({ agentId: 's-9' });
  const turns = [...echoTurn(), ...echoTurn(), ...echoTurn()];
  const agent = actlog(new Agent({ name: 'a', model: new ScriptedModel(turns), tools: [echo] }), {
    recorder,
    agentId: 's-9',
  });
  const history = await withTrace('two runs', async ({ traceId }) => {
    traceIds.push(traceId);
    await run(agent, [user('plan')]);
    return (await run(agent, [user('write')])).history;
  });
  await withTrace('another', () => run(agent, [...rebuilt(history), user('shorter')]));
  setTracingDisabled(true);
  expect(await sessionsBy(recorder, 's-9')).toEqual(traceIds);
});

test('uses one session for the runs of a trace without an id, because tracing is off', async () => {
  const ids = await sessionsOf('s-12', async (run) => {
    await withTrace('two runs', () => Promise.all([run(), run([user('go')])]));
    await withTrace('one run', () => run());
  });
  expect(ids).toHaveLength(2);
});

test('recognizes a conversation after a handoff that removes all other calls', async () => {
  const { echo } = tools();
  const recorder = service.recorder({ agentId: 's-10' });
  const options = { recorder, agentId: 's-10' };
  const second = new Agent({
    name: 'second',
    model: new ScriptedModel([[assistantMessage('Hi.')], ...echoTurn()]),
    tools: [echo],
  });
  const transfer = functionCall('transfer_to_second', {}, { callId: `call_${randomUUID()}` });
  const first = actlog(
    new Agent({
      name: 'first',
      model: new ScriptedModel([echoCall(), [transfer]]),
      tools: [echo],
      handoffs: [handoff(second, { inputFilter: (data) => ({ ...data, preHandoffItems: [] }) })],
    }),
    options,
  );
  const { history, lastAgent } = await run(first, 'go');
  expect(history).not.toContainEqual(expect.objectContaining({ name: 'echo' }));
  await run(lastAgent ?? first, [...rebuilt(history), user('and now')]);
  expect(await sessionsBy(recorder, 's-10')).toHaveLength(1);
});

test('keeps two chats with the same words and call ids apart while they are in memory', async () => {
  const { echo } = tools();
  const recorder = service.recorder({ agentId: 's-11' });
  const chats = [1, 2].map(() => ({
    agent: actlog(new Agent({ name: 'a', tools: [echo] }), {
      recorder,
      agentId: 's-11',
    }),
    history: [] as AgentInputItem[],
  }));
  for (const text of ['one', 'two']) {
    for (const chat of chats) {
      chat.agent.model = modelOf([[{ name: 'echo', args: { text } }]]); // numbers its calls
      chat.history = (await run(chat.agent, [...chat.history, user(text)])).history;
    }
  }
  expect(await sessionsBy(recorder, 's-11')).toHaveLength(2);
});

test('uses one session per run otherwise', async () => {
  const ids = await sessionsOf('s-7', async (run) => {
    await run();
    await run();
  });
  expect(ids).toHaveLength(2);
});
