import { Service } from '@actlog/adapter-suite';
import {
  Agent,
  type AgentInputItem,
  MemorySession,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  user,
  withTrace,
} from '@openai/agents';
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

test('uses one session per run otherwise', async () => {
  const ids = await sessionsOf('s-7', async (run) => {
    await run();
    await run();
  });
  expect(ids).toHaveLength(2);
});
