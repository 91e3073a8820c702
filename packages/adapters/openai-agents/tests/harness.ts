import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { Agent, type AgentInputItem, MemorySession, Runner, tool, user } from '@openai/agents';
import * as z from 'zod';
import { version } from '../src/agents-calls.ts';
import { actlog } from '../src/index.ts';
import { modelOf, toolResultsOf } from './agent.ts';

function sdkTool({ name, run }: SuiteTool, ownHook: Scenario['ownHook']) {
  const own = {
    name: 'own',
    run: async () => {
      ownHook?.(name);
      return { behavior: { type: 'allow' as const } };
    },
  };
  return tool({
    name,
    description: `The tool ${name}.`,
    parameters: z.object({ text: z.string() }),
    inputGuardrails: ownHook ? [own] : [],
    execute: ({ text }, _context, details) => run({ text }, details?.signal),
  });
}

/** Place of the adapter: the agent, its runner, or the whole process. */
type Place = 'agent' | 'runner' | 'process';

function parts({ tools, turns, adapter, isInstalledTwice, ownHook, systemText }: Scenario, place: Place) {
  const calls = turns.map((turn) => turn.map(({ toolName, arguments: args }) => ({ name: toolName, args })));
  const agent = new Agent({
    name: 'tester',
    ...(systemText !== undefined && { instructions: systemText }),
    model: modelOf(calls),
    tools: tools.map((own) => sdkTool(own, ownHook)),
  });
  const runner = new Runner();
  if (adapter && (place === 'agent' || isInstalledTwice)) actlog(agent, adapter);
  if (adapter && (place === 'runner' || isInstalledTwice)) actlog(runner, adapter);
  const stop = adapter && place === 'process' ? actlog.install(adapter) : undefined;
  return { agent, runner, stop };
}

async function ending(scenario: Scenario, place: Place): Promise<Ending> {
  const { sessionId, isStreamed, signal, userText = 'go' } = scenario;
  const { agent, runner, stop } = parts(scenario, place);
  const options = { session: new MemorySession({ sessionId }), ...(signal && { signal }) };
  try {
    const result = isStreamed
      ? await runner.run(agent, userText, { ...options, stream: true })
      : await runner.run(agent, userText, options);
    if ('completed' in result) for await (const _ of result); // read to its end
    const toolResults = toolResultsOf(result.newItems).map((text) => ({
      text,
      isError: text.startsWith('An error occurred'),
    }));
    return { toolResults, finalText: result.finalOutput };
  } catch (error) {
    return { toolResults: [], error };
  } finally {
    stop?.();
  }
}

/** Runs a chat by `result.history`, as the SDK's own examples do. */
async function chat({ tool: own, texts, adapter }: Chat, place: Place): Promise<void> {
  let history: AgentInputItem[] = [];
  for (const [index, text] of texts.entries()) {
    const turns = [[{ toolName: own.name, arguments: { text } }]];
    const { agent, runner, stop } = parts({ tools: [own], turns, adapter, sessionId: '' }, place);
    const input =
      index === 0 ? text : [...(JSON.parse(JSON.stringify(history)) as AgentInputItem[]), user(text)];
    const result = await runner.run(agent, input);
    history = result.history;
    stop?.();
  }
}

function harnessOf(place: Place, hook: string): AdapterHarness {
  return {
    framework: 'openai-agents',
    sdk: `@actlog/openai-agents/${version}`,
    hook,
    abilities: {
      ...fullAbilities,
      unknownTool: 'unseen',
      thrown: 500,
      maxDenials: 10,
      changes: false, // a guardrail has no way to change the input
      origins: { user: true, system: true, results: true },
    },
    run: (scenario) => ending(scenario, place),
    chat: (told) => chat(told, place),
  };
}

/** Agents of the OpenAI Agents SDK, with the adapter on the agent. */
export const agentHarness: AdapterHarness = harnessOf('agent', '`actlog(agent)`');

/** With the adapter on the runner. */
export const runnerHarness: AdapterHarness = harnessOf('runner', '`actlog(runner)`');

/** With the adapter for the whole process. */
export const processHarness: AdapterHarness = harnessOf('process', '`actlog.install()`');
