import { Service } from '@actlog/adapter-suite';
import { ActionDeniedError } from '@actlog/recorder';
import { type AIMessage, isAIMessage, ToolMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, tool } from 'langchain';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { inThread, modelOf, question, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
});
afterAll(() => service.close());

const failing = { name: 'fail', args: {} };
const ended = 'The run was ended because the model repeated the call.';
const limits = { recursionLimit: 10_000 };

/** Creates a model that makes the same call again and again. */
function repeating(call = failing, times = 200) {
  return modelOf(Array.from({ length: times }, () => [call]));
}

const agents = {
  'an agent with middleware': (model: ReturnType<typeof modelOf>) =>
    createAgent({
      model,
      tools: [tools().fail],
      middleware: [actlog({ recorder: service.guarded() })],
    }) as never,
  'an agent with wrapped tools': (model: ReturnType<typeof modelOf>) =>
    createAgent({ model, tools: actlog.tools([tools().fail], { recorder: service.guarded() }) }) as never,
  'a prebuilt agent of LangGraph': (model: ReturnType<typeof modelOf>) => {
    onTestFinished(actlog.install({ recorder: service.guarded() }));
    return createReactAgent({ llm: model as never, tools: [tools().fail] }) as never;
  },
  'a graph': (model: ReturnType<typeof modelOf>) => {
    onTestFinished(actlog.install({ recorder: service.guarded() }));
    const hasCalls = ({ messages }: typeof MessagesAnnotation.State) => {
      const last = messages.at(-1) as AIMessage;
      return isAIMessage(last) && last.tool_calls?.length ? 'tools' : END;
    };
    return new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('tools', new ToolNode([tools().fail]))
      .addEdge(START, 'model')
      .addConditionalEdges('model', hasCalls)
      .addEdge('tools', 'model')
      .compile() as never;
  },
};

type GraphState = typeof MessagesAnnotation.State;

/** Creates a hand-written graph, whose node runs the calls of the model in its own way. */
function graphOf(runCall: (call: ModelCall) => Promise<ToolMessage>) {
  const model = modelOf([[failing], [{ name: 'echo', args: { text: 'a' } }]]);
  const lastCalls = ({ messages }: GraphState) => (messages.at(-1) as AIMessage).tool_calls ?? [];
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('calls', async (state) => ({
      messages: await Promise.all(lastCalls(state).map((call) => runCall(call as ModelCall))),
    }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', (state) => (lastCalls(state).length > 0 ? 'calls' : END))
    .addEdge('calls', 'model')
    .compile();
}

interface ModelCall {
  readonly id: string;
  readonly name: 'echo' | 'fail';
  readonly args: object;
}

/** The used part of a tool. */
interface InvokedTool {
  invoke(input: object): Promise<unknown>;
}

describe('a hand-written graph', () => {
  const { echo, fail } = tools();
  const byName = { echo, fail } as unknown as Readonly<Record<ModelCall['name'], InvokedTool>>;

  test('goes on after a denial if its node passes the whole call to the tool', async () => {
    onTestFinished(actlog.install({ recorder: service.guarded() }));
    const graph = graphOf(
      async (call) => (await byName[call.name].invoke({ ...call, type: 'tool_call' })) as ToolMessage,
    );
    const { messages } = await graph.invoke(question, inThread('whole-call'));
    expect(messages.filter(ToolMessage.isInstance)).toMatchObject([
      { name: 'fail', status: 'error', text: expect.stringContaining('Never fail.') },
      { name: 'echo', text: 'echo: a' },
    ]);
    expect(messages.at(-1)?.text).toBe('done');
  });

  test('ends with the denial if its node passes only the arguments, and goes on if it catches the denial', async () => {
    onTestFinished(actlog.install({ recorder: service.guarded() }));
    const resultOf = async ({ id, name, args }: ModelCall) =>
      new ToolMessage({ content: String(await byName[name].invoke(args)), tool_call_id: id });
    await expect(graphOf(resultOf).invoke(question, inThread('uncaught'))).rejects.toThrow(ActionDeniedError);
    const caught = graphOf((call) =>
      resultOf(call).catch((error: unknown) => {
        if (!ActionDeniedError.isInstance(error)) throw error;
        return new ToolMessage({ content: error.message, tool_call_id: call.id, status: 'error' });
      }),
    );
    expect((await caught.invoke(question, inThread('caught'))).messages.at(-1)?.text).toBe('done');
  });
});

/** The used part of an agent or a graph. */
interface Invoked {
  invoke(input: object, config: object): Promise<{ messages: { text: string }[] }>;
}

test.each(Object.entries(agents))(
  'ends the run of %s whose model repeats a denied call, whatever the limit on steps',
  async (name, create) => {
    const model = repeating();
    const { messages } = await (create(model) as Invoked).invoke(question, { ...inThread(name), ...limits });
    expect(messages.at(-1)?.text).toContain(ended);
    expect(await service.callLines(name)).toHaveLength(5);
    expect(model.callCount).toBe(5);
  },
);

test('counts anew in the next run', async () => {
  const agent = createAgent({
    model: repeating(failing, 8),
    tools: [tools().fail],
    middleware: [actlog({ recorder: service.guarded() })],
  });
  const first = await agent.invoke(question, { ...inThread('anew'), ...limits });
  expect(first.messages.at(-1)?.text).toContain(ended);
  const second = await agent.invoke(question, { ...inThread('anew'), ...limits });
  expect(second.messages.at(-1)?.text).toBe('done');
  expect(await service.callLines('anew')).toHaveLength(8);
});

test('ends the run of an agent whose model repeats an agent that is always denied', async () => {
  const inner = () => createAgent({ model: repeating(), tools: [tools().fail] });
  const ask = tool(async () => (await inner().invoke(question)).messages.at(-1)?.text, {
    name: 'ask',
    description: 'Asks.',
    schema: z.object({}),
  });
  const outer = createAgent({
    model: repeating({ name: 'ask', args: {} }),
    tools: [ask],
    middleware: [actlog({ recorder: service.guarded() })],
  });
  const { messages } = await outer.invoke(question, { ...inThread('nested'), ...limits });
  expect(messages.at(-1)?.text).toContain(ended);
  const denied = (await service.callLines('nested')).filter((line) => line.endsWith('fail 403'));
  expect(denied).toHaveLength(25);
});

test('ends a graph that calls its model whatever the model says with the denial', async () => {
  onTestFinished(actlog.install({ recorder: service.guarded() }));
  const model = repeating();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', async ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length
        ? new ToolNode([tools().fail]).invoke({ messages })
        : {},
    )
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .addEdge('tools', 'model')
    .compile();
  const run = graph.invoke(question, { ...inThread('endless'), ...limits });
  await expect(run).rejects.toThrow(/was not run: it was denied/);
  expect(model.callCount).toBe(5);
});
