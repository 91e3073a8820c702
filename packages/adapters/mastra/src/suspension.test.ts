import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { createTool } from '@mastra/core/tools';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { agentOf, askingTool, inMastra, inThread, tools, tracesInDetail } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const statuses = async (session: string) => (await service.events(session)).map(({ status }) => status);

test.each(tracesInDetail ? ['hooks', 'exporter'] : ['hooks'])(
  'records a suspended tool after it is resumed: %s',
  async (hook) => {
    const adapter = { recorder: service.recorder() };
    const { agent, model } = agentOf({
      turns: [[{ name: 'ask', args: {} }]],
      tools: { ask: askingTool() },
      ...(hook === 'hooks' && { hooks: actlog(adapter) }),
    });
    inMastra({ agent }, ...(hook === 'exporter' ? [actlog.exporter(adapter)] : []));
    const session = `suspended-${hook}`;
    const { finishReason, runId } = await agent.generate('go', inThread(session));
    expect(finishReason).toBe('suspended');
    expect(await statuses(session)).toEqual([]);
    await agent.resumeGenerate({ answer: 'yes' }, { runId: runId ?? '', ...inThread(session) });
    expect(model.toolResults()).toEqual([{ text: 'They said yes.', isError: false }]);
    expect(await statuses(session)).toEqual([200]);
  },
);

test.each(['hooks', 'tools'])(
  'records a suspended tool of a stream after it is resumed: %s',
  async (hook) => {
    const adapter = { recorder: service.recorder() };
    // With a schema for its suspension, Mastra would wait for the model.
    const ask = askingTool();
    delete ask.suspendSchema;
    const own = { ask, echo: tools().echo };
    const turns = [
      [
        { name: 'ask', args: {} },
        { name: 'echo', args: { text: 'a' } },
      ],
    ];
    const { agent, model } = agentOf({
      turns,
      tools: hook === 'tools' ? actlog.tools(own, adapter) : own,
      ...(hook === 'hooks' && { hooks: actlog(adapter) }),
    });
    inMastra({ agent });
    const session = `streamed-${hook}`;
    const run = await agent.stream('go', inThread(session));
    await run.consumeStream();
    expect(await statuses(session)).toEqual([200]);
    const resumed = await agent.resumeStream({ answer: 'yes' }, { runId: run.runId, ...inThread(session) });
    await resumed.consumeStream();
    expect(model.toolResults().map(({ text }) => text)).toEqual(['They said yes.', 'echo: a']);
    expect(await statuses(session)).toEqual([200, 200]);
  },
);

test('records a call approved in Mastra once, and a declined one not at all', async () => {
  const { echo, ran } = tools();
  const turns = [[{ name: 'echo', args: { text: 'a' } }], [{ name: 'echo', args: { text: 'b' } }]];
  const hooks = actlog({ recorder: service.recorder() });
  const { agent } = agentOf({ turns, tools: { echo }, hooks });
  inMastra({ agent });
  const options = { ...inThread('approved'), requireToolApproval: true };
  const first = await agent.generate('go', options);
  const second = await agent.approveToolCallGenerate({
    ...options,
    runId: first.runId ?? '',
    toolCallId: first.suspendPayload.toolCallId,
  });
  expect(ran).toEqual(['echo a']);
  await agent.declineToolCallGenerate({
    ...options,
    runId: second.runId ?? '',
    toolCallId: second.suspendPayload.toolCallId,
  });
  expect(ran).toEqual(['echo a']);
  expect(await statuses('approved')).toEqual([200]);
});

test("records a result that violates the tool's schema as a failure", async () => {
  const wrong = createTool({
    id: 'wrong',
    description: 'Answers wrongly.',
    inputSchema: z.object({}),
    outputSchema: z.object({ degrees: z.number() }),
    execute: async () => ({ degrees: 'many' as unknown as number }),
  });
  const turns = [[{ name: 'wrong', args: {} }]];
  const adapter = { recorder: service.recorder() };
  for (const [session, isTraced] of [
    ['by-hooks', false],
    ['by-spans', true],
  ] as const) {
    const { agent } = agentOf({ turns, tools: { wrong }, ...(!isTraced && { hooks: actlog(adapter) }) });
    inMastra({ agent }, ...(isTraced ? [actlog.exporter(adapter)] : []));
    await agent.generate('go', inThread(session));
    expect(await statuses(session)).toEqual([500]);
  }
});

test.each(tracesInDetail ? ['hooks', 'exporter'] : ['hooks'])(
  "records delegated and resumed calls with the model's arguments: %s",
  async (hook) => {
    const adapter = { recorder: service.recorder() };
    const hooks = hook === 'hooks' && { hooks: actlog(adapter) };
    const asking = { turns: [[{ name: 'ask', args: {} }]], tools: { ask: askingTool() } };
    const { agent: helper } = agentOf({ id: 'helper', ...asking, ...hooks });
    const confirm = createStep({
      id: 'confirm',
      inputSchema: z.object({}),
      outputSchema: z.object({}),
      resumeSchema: z.object({ answer: z.string() }),
      execute: async ({ resumeData, suspend }) => (resumeData ? {} : suspend({})),
    });
    const schemas = { inputSchema: z.object({}), outputSchema: z.object({}) };
    const flow = createWorkflow({ id: 'flow', ...schemas })
      .then(confirm)
      .commit();
    const calls = [
      { name: 'agent-helper', args: { prompt: 'ask' } },
      { name: 'workflow-flow', args: { inputData: {} } },
    ];
    for (const { name, args } of calls) {
      const parts = { agents: { helper }, workflows: { flow } };
      const { agent } = agentOf({ turns: [[{ name, args }]], ...parts, ...hooks });
      inMastra({ agent, helper }, ...(hook === 'exporter' ? [actlog.exporter(adapter)] : []));
      const session = `${hook}-${name}`;
      const { runId = '' } = await agent.generate('go', inThread(session));
      await agent.resumeGenerate({ answer: 'yes' }, { runId, ...inThread(session) });
      const handedOver = (await service.storedEvents(session)).filter(
        ({ payload }) => payload?.toolName === name,
      );
      expect(handedOver.map(({ payload }) => payload?.argumentsHash)).toEqual([await hashArguments(args)]);
    }
  },
);
