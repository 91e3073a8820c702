import type { AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { createAgent, createMiddleware, tool } from 'langchain';
import * as z from 'zod';
import { actlog } from '../src/index.ts';
import { version } from '../src/version.ts';
import { inThread, modelOf, toolAnswers } from './agent.ts';

function langChainTool({ name, run }: SuiteTool) {
  return tool(({ text }, config) => run({ text }, config.signal), {
    name,
    description: `The tool ${name}.`,
    schema: z.object({ text: z.string() }),
  });
}

function ownMiddleware(hear: (toolName: string) => void) {
  return createMiddleware({
    name: 'own',
    wrapToolCall: (request, handler) => {
      hear(request.toolCall.name);
      return handler(request);
    },
  });
}

function agentOf({ tools, turns, adapter, isInstalledTwice, ownHook, systemText }: Scenario) {
  const own = tools.map(langChainTool);
  const calls = turns.map((turn, index) =>
    turn.map(({ toolName, arguments: args }, place) => ({ name: toolName, args, id: `${index}-${place}` })),
  );
  return createAgent({
    model: modelOf(calls),
    tools: adapter && isInstalledTwice ? actlog.tools(own, adapter) : own,
    ...(systemText !== undefined && { systemPrompt: systemText }),
    middleware: [...(adapter ? [actlog(adapter)] : []), ...(ownHook ? [ownMiddleware(ownHook)] : [])],
  });
}

async function lastState(scenario: Scenario) {
  const { sessionId, isStreamed, signal, userText = 'go' } = scenario;
  const question = { messages: [{ role: 'user' as const, content: userText }] };
  const agent = agentOf(scenario);
  const config = { ...inThread(sessionId), ...(signal && { signal }) };
  if (!isStreamed) return agent.invoke(question, config);
  let state: Awaited<ReturnType<typeof agent.invoke>> | undefined;
  for await (const values of await agent.stream(question, { ...config, streamMode: 'values' }))
    state = values;
  if (!state) throw new Error('The stream held nothing.');
  return state;
}

/** LangChain's agents, with middleware. */
export const langChainHarness: AdapterHarness = {
  framework: 'langchain',
  sdk: `@actlog/langchain/${version}`,
  hook: '`middleware: [actlog()]`',
  abilities: { ...fullAbilities, maxDenials: 12, origins: { user: true, system: true, results: true } },
  async run(scenario): Promise<Ending> {
    try {
      const state = await lastState(scenario);
      const answers = toolAnswers(state).map(({ text, status }) => ({
        text,
        // LangChain 1.4 does not mark its own errors.
        isError: status === 'error' || /^Error\b/.test(text),
      }));
      return { answers, finalText: state.messages.at(-1)?.text };
    } catch (error) {
      return { answers: [], error };
    }
  },
};
