import { Mastra } from '@mastra/core';
import { Agent, type AgentConfig, type ToolsInput } from '@mastra/core/agent';
import { MockMemory } from '@mastra/core/memory';
import { type ObservabilityExporter, SpanType } from '@mastra/core/observability';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { Observability } from '@mastra/observability';
import * as z from 'zod';
import { ScriptedModel, type Turns } from './model.ts';

/** Options of an agent beside its instructions. */
export interface AgentParts {
  readonly id?: string;
  readonly turns: Turns;
  readonly tools?: ToolsInput;
  readonly hooks?: ToolHooks;
  readonly agents?: Record<string, Agent>;
  readonly workflows?: AgentConfig['workflows'];
  /** Default: its own memory. */
  readonly memory?: false;
}

/** Creates an agent with a scripted model. */
export function agentOf({ id = 'tester', turns, tools = {}, hooks, agents, workflows, memory }: AgentParts) {
  const model = new ScriptedModel(turns);
  const agent = new Agent({
    id,
    name: id,
    description: `The agent ${id}.`,
    instructions: 'Do as you are told.',
    model: model.config,
    tools,
    ...(hooks && { hooks }),
    ...(agents && { agents }),
    ...(workflows && { workflows }),
    ...(memory !== false && { memory: new MockMemory() }),
  });
  return { agent, model };
}

/** Adds agents to a Mastra, which is traced if there are exporters. */
export function inMastra(agents: Record<string, Agent>, ...exporters: ObservabilityExporter[]): void {
  const observability =
    exporters.length > 0 && new Observability({ configs: { default: { serviceName: 'tests', exporters } } });
  new Mastra({
    logger: false,
    agents,
    storage: new InMemoryStore(),
    ...(observability && { observability }),
  });
}

/** `true` if the traces of this Mastra contain call ids, suspended tools and provider tools; older ones do not. */
export const tracesInDetail = 'PROVIDER_TOOL_CALL' in SpanType;

/** Returns the options of a run in a thread. */
export function inThread(thread: string) {
  return { memory: { thread, resource: 'user' } };
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = createTool({
    id: 'echo',
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string(), times: z.number().default(1) }),
    execute: async ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
  });
  const fail = createTool({
    id: 'fail',
    description: 'Breaks.',
    inputSchema: z.object({}),
    execute: async () => {
      ran.push('fail');
      throw Object.assign(new Error('it broke'), { status: 502 });
    },
  });
  return { ran, echo, fail };
}

/** Creates a tool that asks a person before it ends. */
export function askingTool() {
  return createTool({
    id: 'ask',
    description: 'Asks a person.',
    inputSchema: z.object({}),
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ answer: z.string() }),
    execute: async (_, { agent }) => {
      const answer: unknown = agent?.resumeData?.answer;
      return answer === undefined ? agent?.suspend({ question: 'Sure?' }) : `They said ${String(answer)}.`;
    },
  });
}
