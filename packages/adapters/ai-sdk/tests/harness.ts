import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { generateText, type ModelMessage, stepCountIs, streamText, type ToolSet, tool } from 'ai';
import * as z from 'zod';
import { type ActlogOptions, actlog } from '../src/index.ts';
import { version } from '../src/telemetry.ts';
import { callOf, modelOf, toolResultsOf } from './model.ts';

/** Installs the adapter in a run with these tools, once or twice. */
type Install = (tools: ToolSet, options: ActlogOptions, isTwice: boolean) => object;

function aiSdkTool({ name, run }: SuiteTool, hear: Scenario['ownHook']) {
  return tool({
    description: 'A tool.',
    inputSchema: z.object({ text: z.string() }),
    onInputAvailable: () => hear?.(name),
    execute: (input, { abortSignal }) => run(input, abortSignal),
  });
}

/** Steps of a `ToolLoopAgent` by default; `generateText` takes one. */
const agentSteps = 20;

function settingsOf(scenario: Scenario, install: Install) {
  const { turns, sessionId, adapter, isInstalledTwice = false, signal, ownHook, keepsTurnLimit } = scenario;
  const { userText = 'go', systemText } = scenario;
  const tools = Object.fromEntries(
    scenario.tools.map((suiteTool) => [suiteTool.name, aiSdkTool(suiteTool, ownHook)]),
  );
  const calls = turns.map((turn, index) =>
    turn.map(({ toolName, arguments: args }, place) => callOf(toolName, args, `${index}-${place}`)),
  );
  return {
    model: modelOf(calls),
    prompt: userText,
    ...(systemText !== undefined && { system: systemText }),
    tools,
    stopWhen: stepCountIs(keepsTurnLimit ? agentSteps : turns.length + 1),
    ...(adapter && install(tools, { sessionId, ...adapter }, isInstalledTwice)),
    ...(signal && { abortSignal: signal }),
  };
}

async function ended(scenario: Scenario, install: Install): Promise<Ending> {
  const settings = settingsOf(scenario, install);
  const run = scenario.isStreamed ? streamText(settings) : await generateText(settings);
  const finalText = await run.text;
  // The prompt of the last turn is the conversation as seen by the model.
  return { toolResults: toolResultsOf(settings.model), finalText };
}

/** Passes the messages of all responses to the next run, as the AI SDK's own examples do. */
async function chat({ tool: own, texts, adapter }: Chat, install: Install): Promise<void> {
  let messages: ModelMessage[] = [];
  for (const content of texts) {
    const turns = [[{ toolName: own.name, arguments: { text: content } }]];
    const scenario = { tools: [own], turns, sessionId: '', adapter };
    const { prompt: _, ...settings } = settingsOf(scenario, install);
    const past = JSON.parse(JSON.stringify(messages)) as ModelMessage[];
    const given: ModelMessage[] = [...past, { role: 'user', content }];
    const input = past.length === 0 ? { prompt: content } : { messages: given };
    const run = await generateText({ ...settings, ...input });
    // In `ai` 7, the response is that of the last step.
    messages = [...given, ...(run.responseMessages ?? run.response.messages)];
  }
}

function harnessOf(
  hook: string,
  install: Install,
  more: Partial<AdapterHarness['abilities']>,
): AdapterHarness {
  return {
    framework: 'ai-sdk',
    sdk: `@actlog/ai-sdk/${version}`,
    hook,
    abilities: { ...fullAbilities, hasSession: false, maxDenials: 20, ...more },
    run: (scenario) => ended(scenario, install).catch((error: unknown) => ({ toolResults: [], error })),
    chat: (told) => chat(told, install),
  };
}

/** Wrapped tools, and a callback for calls that reach none of them. */
export const toolsHarness = harnessOf(
  '`tools: actlog(tools)` with `onStepFinish: actlog.steps()`',
  (tools, options, isTwice) => {
    const once = actlog(tools, options);
    return {
      tools: isTwice ? actlog(once, options) : once,
      onStepFinish: actlog.steps({ ...options, guard: undefined }),
    };
  },
  { origins: { user: true, system: false, results: true } },
);

/** The telemetry of `ai` 7. */
export const telemetryHarness = harnessOf(
  '`registerTelemetry(actlog.telemetry())`',
  (_tools, options, isTwice) => {
    const create = () => actlog.telemetry({ ...options, guard: undefined });
    return { telemetry: { integrations: isTwice ? [create(), create()] : create() } };
  },
  {
    guards: false,
    holds: false,
    aborts: false,
    goesOnAfterDenial: false,
    origins: { user: true, system: true, results: true },
  },
);
