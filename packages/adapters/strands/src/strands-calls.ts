import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  mcpErrorStatus,
  noteTexts,
  processWide,
  toolContent,
} from '@actlog/recorder/adapter';
import {
  type LocalAgent,
  type Message,
  MessageAddedEvent,
  type Tool,
  type ToolResultBlock,
} from '@strands-agents/sdk';
import { agentIdOf, sessionOf } from './agent-identity.ts';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/**
 * Tool with which Strands receives an agent's typed result and a swarm's handoff. A run with a schema cannot end
 * without it: Strands calls the model again until it succeeds.
 */
const structuredOutput = 'strands_structured_output';

/** Creates the `AdapterCalls` of this adapter. */
export function strandsCalls(options: AdapterOptions): AdapterCalls {
  const sdk = `@actlog/strands/${version}`;
  return new AdapterCalls(
    {
      framework: 'strands',
      sdk,
      form: 'interventions: [actlog({ guard })] or actlog.tools(tools, { guard })',
      statusOf: toolOutcomeStatus,
      resultOf: shownResult,
      internalTools: [structuredOutput],
    },
    options,
  );
}

/** Properties of a tool's context, and of its events, that identify a call. */
export interface CallContext {
  readonly toolUse: { readonly name: string; readonly toolUseId: string; readonly input: unknown };
  readonly agent: LocalAgent;
  /** Signal of this call, if Strands has one. Default: the agent's. */
  readonly cancelSignal?: AbortSignal | undefined;
}

/** Converts a context to a call for the recorder. */
export function hookedCall(
  { toolUse, agent, cancelSignal = agent.cancelSignal }: CallContext,
  calls: AdapterCalls,
): HookedCall {
  const { name: toolName, toolUseId: callId } = toolUse;
  const sessionId = sessionOf(agent, calls);
  calls.conversations.note(agent.messages, { toolName, callId }, sessionId);
  return {
    toolName,
    arguments: toolUse.input,
    callId,
    sessionId,
    agentId: agentIdOf(agent),
    signal: cancelSignal,
  };
}

/** Returns the outcome of a call from Strands' result, which contains the errors of most tools. */
export function outcomeOf(result: ToolResultBlock | undefined): ToolOutcome {
  const error = result?.status === 'error' ? result.error : undefined;
  return error === undefined ? { ok: true, result } : { ok: false, error };
}

/**
 * Returns the status of a call from its outcome in Strands: `null` if the tool interrupted the agent and will run
 * again, `undefined` to use the recorder's table.
 */
function toolOutcomeStatus(
  outcome: ToolOutcome,
  { toolName }: Pick<HookedCall, 'toolName'>,
): number | null | undefined {
  if (!outcome.ok) return isInterrupt(outcome.error) ? null : undefined;
  const { type, status, content } = (outcome.result ?? {}) as Partial<ToolResultBlock>;
  if (type !== 'toolResultBlock' || status !== 'error') return undefined;
  // Without an error, it is the result of an MCP server, or of a tool that returns such a block itself.
  const [first] = content ?? [];
  return (
    (first?.type === 'textBlock' ? mcpErrorStatus(first.text, undefined, toolName) : undefined) ??
    responseStatuses.threw
  );
}

/** Returns `true` for Strands' `InterruptError`, which is not exported. An error of the tool may have the same name. */
function isInterrupt(error: unknown): boolean {
  const { name, interrupts } = (error ?? {}) as { name?: unknown; interrupts?: unknown };
  if (name !== 'InterruptError' || !Array.isArray(interrupts) || interrupts.length === 0) return false;
  return interrupts.every((interrupt) => typeof (interrupt as { id?: unknown } | null)?.id === 'string');
}

/** Returns what the model sees of a result: its text and JSON, without Strands' blocks around them. */
function shownResult(result: unknown): unknown {
  const { type, content } = (result ?? {}) as Partial<ToolResultBlock>;
  if (type !== 'toolResultBlock' || !Array.isArray(content)) return result;
  const texts: unknown[] = [];
  const values: unknown[] = [];
  for (const block of content as ToolResultBlock['content']) {
    if (block.type === 'textBlock') texts.push({ type: 'text', text: block.text });
    else if (block.type === 'jsonBlock') values.push(block.json);
  }
  return toolContent({ content: texts, ...(values.length > 0 && { structuredContent: values }) });
}

/** Agents whose messages are listened to, and the recorders that do. */
const listeners = processWide(
  '@actlog/strands/text-listeners',
  () => new WeakMap<object, Set<AdapterCalls>>(),
);

/** Agents and inner orchestrators that may receive what a model wrote: nodes, and agents behind excluded tools. */
const nodes = processWide('@actlog/strands/nodes', () => new WeakSet<object>());

/**
 * Remembers the system prompt of an agent that is about to run, and from now on what users say to it, for argument
 * origins. Reads messages as they are added, because summaries and feedback also become user messages later.
 */
export function rememberAgentTexts(agent: LocalAgent, calls: AdapterCalls): void {
  if (!calls.tracesOrigins) return;
  noteTexts(calls, () => ({ sessionId: sessionOf(agent, calls), system: [agent.systemPrompt] }));
  const all = listeners().get(agent) ?? new Set();
  listeners().set(agent, all);
  if (all.has(calls)) return;
  all.add(calls);
  agent.addHook(MessageAddedEvent, ({ message }) => {
    if (!nodes().has(agent))
      noteTexts(calls, () => ({ sessionId: sessionOf(agent, calls), user: userContents(message) }));
  });
}

/** Remembers the agents and orchestrators that are nodes of an orchestrator, which passes them their input. */
export function rememberNodes(parts: Iterable<object>): void {
  for (const part of parts) nodes().add(part);
}

/** Remembers an agent behind a tool that a model calls without the call being recorded. */
export function rememberUncoveredTool(tool: Tool): void {
  const { agent } = tool as { readonly agent?: unknown };
  if (typeof agent === 'object' && agent !== null) nodes().add(agent);
}

/** Remembers what the user said to an orchestrator, in the sessions of its agents. */
export function rememberInput(
  orchestrator: object,
  input: unknown,
  agents: readonly LocalAgent[],
  calls: AdapterCalls,
): void {
  if (nodes().has(orchestrator)) return;
  for (const agent of agents) noteTexts(calls, () => ({ sessionId: sessionOf(agent, calls), user: [input] }));
}

function userContents({ role, content }: Message): unknown[] {
  return role === 'user' ? [content] : [];
}
