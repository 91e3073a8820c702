import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import {
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
} from '@langchain/core/messages';
import { createAgent, createMiddleware, tool } from 'langchain';
import * as z from 'zod';
import { actlog } from '../src/index.ts';
import { version } from '../src/langchain-calls.ts';
import { chatModelOf, inThread, modelOf, toolResultsOf } from './agent.ts';

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

/** Place of the adapter: the agent's middleware, or the whole process. */
type Place = 'middleware' | 'process';

function callsOf({ turns }: Pick<Scenario, 'turns'>) {
  return turns.map((turn, index) =>
    turn.map(({ toolName, arguments: args }, position) => ({
      name: toolName,
      args,
      id: `${index}-${position}`,
    })),
  );
}

function agentOf(scenario: Scenario, place: Place, model = modelOf(callsOf(scenario))) {
  const { tools, adapter, isInstalledTwice, ownHook, systemText } = scenario;
  const own = tools.map(langChainTool);
  return createAgent({
    model,
    tools: adapter && isInstalledTwice ? actlog.tools(own, adapter) : own,
    ...(systemText !== undefined && { systemPrompt: systemText }),
    middleware: [
      ...(adapter && place === 'middleware' ? [actlog(adapter)] : []),
      ...(ownHook ? [ownMiddleware(ownHook)] : []),
    ],
  });
}

async function lastState(scenario: Scenario, place: Place) {
  const { sessionId, isStreamed, signal, userText = 'go' } = scenario;
  const question = { messages: [{ role: 'user' as const, content: userText }] };
  const agent = agentOf(scenario, place);
  const config = { ...inThread(sessionId), ...(signal && { signal }) };
  if (!isStreamed) return agent.invoke(question, config);
  let state: Awaited<ReturnType<typeof agent.invoke>> | undefined;
  for await (const values of await agent.stream(question, { ...config, streamMode: 'values' }))
    state = values;
  if (!state) throw new Error('The stream held nothing.');
  return state;
}

async function ending(scenario: Scenario, place: Place): Promise<Ending> {
  const stop = scenario.adapter && place === 'process' ? actlog.install(scenario.adapter) : undefined;
  try {
    const state = await lastState(scenario, place);
    const toolResults = toolResultsOf(state).map(({ text, status }) => ({
      text,
      // LangChain 1.4 does not mark its own errors.
      isError: status === 'error' || /^Error\b/.test(text),
    }));
    return { toolResults, finalText: state.messages.at(-1)?.text };
  } catch (error) {
    return { toolResults: [], error };
  } finally {
    stop?.();
  }
}

/** Runs a chat whose messages are stored in LangChain's own format, and loaded for each turn. */
async function chat({ tool: own, texts, adapter }: Chat, place: Place): Promise<void> {
  const stop = place === 'process' ? actlog.install(adapter) : undefined;
  const turns = texts.map((text) => [{ toolName: own.name, arguments: { text } }]);
  const scenario = { tools: [own], turns, adapter, sessionId: '' };
  const model = chatModelOf(callsOf(scenario));
  let stored: StoredMessage[] = [];
  for (const text of texts) {
    const earlier = mapStoredMessagesToChatMessages(JSON.parse(JSON.stringify(stored)));
    const agent = agentOf(scenario, place, model);
    const { messages } = await agent.invoke({ messages: [...earlier, new HumanMessage(text)] });
    stored = mapChatMessagesToStoredMessages(messages);
  }
  stop?.();
}

function harnessOf(place: Place, hook: string): AdapterHarness {
  return {
    framework: 'langchain',
    sdk: `@actlog/langchain/${version}`,
    hook,
    abilities: { ...fullAbilities, origins: { user: true, system: true, results: true } },
    run: (scenario) => ending(scenario, place),
    chat: (told) => chat(told, place),
  };
}

/** LangChain's agents, with middleware. */
export const langChainHarness: AdapterHarness = harnessOf('middleware', '`middleware: [actlog()]`');

/** LangChain's agents, with the adapter for the whole process. */
export const processHarness: AdapterHarness = harnessOf('process', '`actlog.install()` for the process');
