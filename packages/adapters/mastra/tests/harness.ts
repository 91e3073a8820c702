import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { Mastra } from '@mastra/core';
import { Agent, type ToolsInput } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import * as z from 'zod';
import { type ActlogOptions, actlog } from '../src/index.ts';
import { version } from '../src/version.ts';
import { tracesInDetail } from './agent.ts';
import { ScriptedModel } from './model.ts';

/** Installs the adapter in an agent and returns the hooks of the run. */
export interface Installation {
  readonly agentHooks?: ToolHooks;
  readonly runHooks?: ToolHooks;
  readonly exporters?: ReturnType<typeof actlog.exporter>[];
  /** Ends what is not part of the agent. */
  readonly end?: () => void;
  /** Default: the tools unchanged. */
  readonly wrap?: (tools: ToolsInput) => ToolsInput;
}

export type Install = (options: ActlogOptions, isTwice: boolean, own: ToolHooks) => Installation;

function mastraTool({ name, run }: SuiteTool) {
  return createTool({
    id: name,
    description: `The tool ${name}.`,
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }, context) => run({ text }, context.abortSignal),
  });
}

function setUp(scenario: Omit<Scenario, 'sessionId'>, install: Install, hasMemory = true) {
  const { tools, turns, adapter, isInstalledTwice = false, ownHook, systemText } = scenario;
  const own: ToolHooks = ownHook ? { beforeToolCall: ({ toolName }) => ownHook(toolName) } : {};
  const { agentHooks, runHooks, exporters, wrap, end }: Installation = adapter
    ? install(adapter, isInstalledTwice, own)
    : { agentHooks: own };
  const model = new ScriptedModel(
    turns.map((turn) => turn.map(({ toolName, arguments: args }) => ({ name: toolName, args }))),
  );
  const bare = Object.fromEntries(tools.map((tool) => [tool.name, mastraTool(tool)]));
  const agent = new Agent({
    id: 'tester',
    name: 'Tester',
    instructions: systemText ?? 'Do as you are told.',
    model: model.config,
    tools: wrap ? wrap(bare) : bare,
    ...(hasMemory && { memory: new MockMemory() }),
    ...(agentHooks && { hooks: agentHooks }),
  });
  const observability =
    exporters && new Observability({ configs: { default: { serviceName: 'suite', exporters } } });
  new Mastra({ logger: false, agents: { agent }, ...(observability && { observability }) });
  return { agent, model, runHooks, end };
}

async function ended(scenario: Scenario, install: Install): Promise<Ending> {
  const { agent, model, runHooks, end } = setUp(scenario, install);
  const options = {
    ...(!scenario.keepsTurnLimit && { maxSteps: scenario.turns.length + 1 }),
    memory: { thread: scenario.sessionId, resource: 'user' },
    ...(scenario.signal && { abortSignal: scenario.signal }),
    ...(runHooks && { hooks: runHooks }),
  };
  try {
    const { isStreamed, userText = 'go' } = scenario;
    const run = isStreamed ? await agent.stream(userText, options) : await agent.generate(userText, options);
    const finalText = await run.text;
    return { toolResults: model.toolResults(), finalText };
  } catch (error) {
    return { toolResults: model.toolResults(), error };
  } finally {
    end?.();
  }
}

/** Passes the messages of all responses to the next run, as an application does whose agent has no memory. */
async function chat({ tool, texts, adapter }: Chat, install: Install): Promise<void> {
  let messages: unknown[] = [];
  for (const content of texts) {
    const turns = [[{ toolName: tool.name, arguments: { text: content } }]];
    const { agent, runHooks, end } = setUp({ tools: [tool], turns, adapter }, install, false);
    const given = [...(JSON.parse(JSON.stringify(messages)) as unknown[]), { role: 'user', content }];
    const input = (messages.length > 0 ? given : content) as Parameters<typeof agent.generate>[0];
    const { response } = await agent.generate(input, runHooks ? { hooks: runHooks } : {});
    messages = [...given, ...(response.messages ?? [])];
    end?.();
  }
}

const allOrigins = { user: true, system: true, results: true };

export function harnessOf(
  hook: string,
  install: Install,
  abilities: Partial<AdapterHarness['abilities']>,
): AdapterHarness {
  return {
    framework: 'mastra',
    sdk: `@actlog/mastra/${version}`,
    hook,
    abilities: { ...fullAbilities, unknownTool: 'unseen', origins: allOrigins, ...abilities },
    run: (scenario) => ended(scenario, install),
    chat: (told) => chat(told, install),
  };
}

/** Hooks of the agent, combined with hooks of the run. */
export const hooksHarness = harnessOf(
  '`hooks: actlog()`',
  (options, isTwice, own) => {
    const hooks = actlog.around(own, options);
    return isTwice ? { agentHooks: hooks, runHooks: actlog.around(hooks, options) } : { agentHooks: hooks };
  },
  {},
);

/** The exporter of a whole Mastra. */
const everyExporter = harnessOf(
  '`exporters: [actlog.exporter()]`',
  (options, isTwice, own) => {
    const exporters = Array.from({ length: isTwice ? 2 : 1 }, () => actlog.exporter(options));
    return { agentHooks: own, exporters };
  },
  { guards: false, holds: false, aborts: false, goesOnAfterDenial: false, unknownTool: 404, thrown: 500 },
);

/** The same. A chat is recognized only where the traces contain the ids of calls. */
export const exporterHarness: AdapterHarness = tracesInDetail
  ? everyExporter
  : { ...everyExporter, chat: undefined };

/** Wrapped tools of an agent. */
export const toolsHarness = harnessOf(
  '`tools: actlog.tools(tools)`',
  (options, isTwice, own) => {
    const once = (tools: ToolsInput) => actlog.tools(tools, options);
    return { agentHooks: own, wrap: isTwice ? (tools) => once(once(tools)) : once };
  },
  { invalidArguments: 'unseen' },
);

/** The whole process. */
export const processHarness = harnessOf(
  '`actlog.install()` for the process',
  (options, isTwice, own) => {
    const end = actlog.install(options);
    return isTwice ? { agentHooks: actlog.around(own, options), end } : { agentHooks: own, end };
  },
  {},
);
