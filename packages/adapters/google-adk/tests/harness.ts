import type { AdapterHarness, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { BasePlugin, type BaseTool, FunctionTool, LlmAgent, StreamingMode } from '@google/adk';
import * as z from 'zod';
import { version } from '../src/google-adk-calls.ts';
import { actlog } from '../src/index.ts';
import { lastWords, modelOf, runAgent, toolResultsOf } from './agent.ts';

function adkTool({ name, run }: SuiteTool): BaseTool {
  return new FunctionTool({
    name,
    description: `The tool ${name}.`,
    parameters: z.object({ text: z.string() }),
    execute: ({ text }, context) => run({ text }, context?.abortSignal),
  });
}

class OwnPlugin extends BasePlugin {
  readonly #hear: (toolName: string) => void;

  constructor(hear: (toolName: string) => void) {
    super('own');
    this.#hear = hear;
  }

  override async beforeToolCallback({ tool }: { tool: BaseTool }): Promise<undefined> {
    this.#hear(tool.name);
  }
}

/** Place of the adapter: the runner's plugins, or the whole process. */
type Place = 'plugins' | 'process';

async function eventsOf(scenario: Scenario, place: Place) {
  const { tools, turns, sessionId, adapter, isInstalledTwice, isStreamed, signal, ownHook } = scenario;
  const { userText, systemText } = scenario;
  const calls = turns.map((turn, index) =>
    turn.map(({ toolName, arguments: args }, place) => ({ name: toolName, args, id: `${index}-${place}` })),
  );
  const times = (place === 'plugins' ? 1 : 0) + (isInstalledTwice ? 1 : 0);
  const recording = adapter ? Array.from({ length: times }, () => actlog(adapter)) : [];
  const agent = new LlmAgent({
    name: 'tester',
    model: modelOf(calls),
    tools: tools.map(adkTool),
    ...(systemText !== undefined && { instruction: systemText }),
  });
  const options = {
    sessionId,
    plugins: [...recording, ...(ownHook ? [new OwnPlugin(ownHook)] : [])],
    ...(isStreamed && { runConfig: { streamingMode: StreamingMode.SSE } }),
    ...(signal && { abortSignal: signal }),
  };
  return runAgent(agent, options, userText);
}

async function ending(scenario: Scenario, place: Place): Promise<Ending> {
  const stop = scenario.adapter && place === 'process' ? actlog.install(scenario.adapter) : undefined;
  try {
    const events = await eventsOf(scenario, place);
    const { errorMessage } = events.at(-1) ?? {};
    if (errorMessage) throw new Error(errorMessage);
    return { toolResults: toolResultsOf(events), finalText: lastWords(events) };
  } catch (error) {
    return { toolResults: [], error };
  } finally {
    stop?.();
  }
}

function harnessOf(place: Place, hook: string): AdapterHarness {
  return {
    framework: 'google-adk',
    sdk: `@actlog/google-adk/${version}`,
    hook,
    abilities: { ...fullAbilities, origins: { user: true, system: true, results: true } },
    run: (scenario) => ending(scenario, place),
  };
}

/** The agents of Google ADK, with a plugin. */
export const googleAdkHarness: AdapterHarness = harnessOf('plugins', '`plugins: [actlog()]`');

/** The agents of Google ADK, with the adapter for the whole process. */
export const processHarness: AdapterHarness = harnessOf('process', '`actlog.install()` for the process');
