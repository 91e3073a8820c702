import type { AdapterHarness, Chat, Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import { fullAbilities } from '@actlog/adapter-suite/harness';
import { Mastra } from '@mastra/core';
import { Agent, type ToolsInput } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';
import { type ObservabilityExporter, SpanType, TracingEventType } from '@mastra/core/observability';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import * as z from 'zod';
import { type ActlogOptions, actlog } from '../src/index.ts';
import { version } from '../src/mastra-calls.ts';
import { tracesInDetail } from './agent.ts';
import { ScriptedModel } from './model.ts';

/** Installs the adapter in an agent and returns the hooks of the run. */
export interface Installation {
  readonly agentHooks?: ToolHooks;
  readonly runHooks?: ToolHooks;
  readonly exporters?: ObservabilityExporter[];
  /** Ends what is not part of the agent. */
  readonly end?: () => void;
  /** Default: the tools unchanged. */
  readonly wrap?: (tools: ToolsInput) => ToolsInput;
}

export type Install = (
  options: ActlogOptions,
  isTwice: boolean,
  ownHook: OwnHook | undefined,
) => Installation;

function mastraTool({ name, run }: SuiteTool) {
  return createTool({
    id: name,
    description: `The tool ${name}.`,
    inputSchema: z.object({ text: z.string() }),
    execute: ({ text }, context) => run({ text }, context.abortSignal),
  });
}

/** Installs a user's own hook, in an agent without the adapter. */
type InstallOwn = (ownHook: OwnHook | undefined) => Installation;
type OwnHook = NonNullable<Scenario['ownHook']>;

const installOwnHook: InstallOwn = (ownHook) => ({ agentHooks: toolHooks(ownHook) });

function toolHooks(ownHook: OwnHook | undefined): ToolHooks {
  return ownHook ? { beforeToolCall: ({ toolName }) => ownHook(toolName) } : {};
}

interface Installers {
  readonly install: Install;
  readonly installOwn: InstallOwn;
}

function setUp(scenario: Omit<Scenario, 'sessionId'>, { install, installOwn }: Installers, hasMemory = true) {
  const { tools, turns, adapter, isInstalledTwice = false, ownHook, systemText } = scenario;
  const { agentHooks, runHooks, exporters, wrap, end } = adapter
    ? install(adapter, isInstalledTwice, ownHook)
    : installOwn(ownHook);
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

async function ended(scenario: Scenario, installers: Installers): Promise<Ending> {
  const { agent, model, runHooks, end } = setUp(scenario, installers);
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
async function chat({ tool, texts, adapter }: Chat, installers: Installers): Promise<void> {
  let messages: unknown[] = [];
  for (const content of texts) {
    const turns = [[{ toolName: tool.name, arguments: { text: content } }]];
    const { agent, runHooks, end } = setUp({ tools: [tool], turns, adapter }, installers, false);
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
  installOwn = installOwnHook,
): AdapterHarness {
  const installers = { install, installOwn };
  return {
    framework: 'mastra',
    sdk: `@actlog/mastra/${version}`,
    hook,
    abilities: { ...fullAbilities, unknownTool: 'unseen', origins: allOrigins, ...abilities },
    run: (scenario) => ended(scenario, installers),
    chat: (told) => chat(told, installers),
  };
}

/** Hooks of the agent, combined with hooks of the run. */
export const hooksHarness = harnessOf(
  '`hooks: actlog()`',
  (options, isTwice, ownHook) => {
    const hooks = actlog.around(toolHooks(ownHook), options);
    return isTwice ? { agentHooks: hooks, runHooks: actlog.around(hooks, options) } : { agentHooks: hooks };
  },
  { changes: false }, // hooks cannot change the input
);

/** A user's exporter, which hears of the tools that have run. */
function ownExporter(hear: OwnHook): ObservabilityExporter {
  return {
    name: 'own',
    async exportTracingEvent({ type, exportedSpan }) {
      if (type === TracingEventType.SPAN_ENDED && exportedSpan.type === SpanType.TOOL_CALL) {
        hear(exportedSpan.entityId ?? exportedSpan.name);
      }
    },
    async flush() {},
    async shutdown() {},
  };
}

const installOwnExporter: InstallOwn = (ownHook) => (ownHook ? { exporters: [ownExporter(ownHook)] } : {});

/** The exporter of a whole Mastra. */
const everyExporter = harnessOf(
  '`exporters: [actlog.exporter()]`',
  (options, isTwice, ownHook) => {
    const exporters = Array.from({ length: isTwice ? 2 : 1 }, () =>
      actlog.exporter({ ...options, guard: undefined }),
    );
    return { exporters: [...exporters, ...(installOwnExporter(ownHook).exporters ?? [])] };
  },
  { guards: false, holds: false, aborts: false, goesOnAfterDenial: false, unknownTool: 404, thrown: 500 },
  installOwnExporter,
);

/** The same. A chat is recognized only where the traces contain the ids of calls. */
export const exporterHarness: AdapterHarness = tracesInDetail
  ? everyExporter
  : { ...everyExporter, chat: undefined };

/** Wrapped tools of an agent. */
export const toolsHarness = harnessOf(
  '`tools: actlog.tools(tools)`',
  (options, isTwice, ownHook) => {
    const once = (tools: ToolsInput) => actlog.tools(tools, options);
    return { ...installOwnHook(ownHook), wrap: isTwice ? (tools) => once(once(tools)) : once };
  },
  { invalidArguments: 'unseen' },
);

/** The whole process. */
export const processHarness = harnessOf(
  '`actlog.install()` for the process',
  (options, isTwice, ownHook) => {
    const end = actlog.install(options);
    const own = toolHooks(ownHook);
    return { agentHooks: isTwice ? actlog.around(own, options) : own, end };
  },
  { changes: false }, // the calls of agents have hooks
);
