import { type AdapterCalls, noteTexts, processWide } from '@actlog/recorder/adapter';
import { type LocalAgent, type Message, MessageAddedEvent, type Tool } from '@strands-agents/sdk';
import { sessionOf } from './agent-identity.ts';

/** Agents whose messages are listened to, and the recorders that do. */
const listeners = processWide(
  '@actlog/strands/text-listeners',
  () => new WeakMap<object, Set<AdapterCalls>>(),
);

/** Agents and inner orchestrators that may receive what a model wrote: nodes, and agents behind excluded tools. */
const nodes = processWide('@actlog/strands/nodes', () => new WeakSet<object>());

/**
 * Notes the system prompt of an agent that is about to run, and from now on what users say to it, for argument origins.
 * Messages are taken as they are added, because summaries and feedback also become messages of the user later.
 */
export function noteAgentTexts(agent: LocalAgent, calls: AdapterCalls): void {
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

/** Notes that agents and inner orchestrators are nodes of an orchestrator, which passes them their input. */
export function noteNodes(parts: Iterable<object>): void {
  for (const part of parts) nodes().add(part);
}

/** Notes that a model calls the agent behind a tool, if there is one, without the call being recorded. */
export function noteUncoveredTool(tool: Tool): void {
  const { agent } = tool as { readonly agent?: unknown };
  if (typeof agent === 'object' && agent !== null) nodes().add(agent);
}

/** Notes what the user said to an orchestrator, in the sessions of its agents. */
export function noteInput(
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
