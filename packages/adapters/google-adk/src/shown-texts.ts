import { type AdapterCalls, noteTexts } from '@actlog/recorder/adapter';
import { type BaseAgent, type Event, type InvocationContext, isLlmAgent } from '@google/adk';
import { invocationsAround } from './coverage.ts';

/**
 * Notes what the user said in a session, and the instructions of the agent that is about to call the model, for argument
 * origins. The request to the model is of no use for that: results of other agents' tools are texts of the user there,
 * and values of the session's state stand in the instructions.
 */
export function noteModelCall(calls: AdapterCalls, context: InvocationContext): void {
  if (invocationsAround().length > 0) return; // a model or a tool wrote the prompt
  noteTexts(calls, () => {
    const { session, userContent, agent } = context;
    return {
      sessionId: session.id,
      user: [userContent?.parts, ...firstMessages(session.events)],
      system: agent ? instructionsOf(agent) : [],
    };
  });
}

/** Yields the messages with which runs began. Later ones may be input of a node, which another node's model wrote. */
function* firstMessages(events: readonly Event[]): Generator<unknown> {
  const begun = new Set<string>();
  for (const { invocationId, author, content } of events) {
    if (begun.has(invocationId)) continue;
    begun.add(invocationId);
    if (author === 'user') yield content?.parts;
  }
}

/** Returns the instructions as the developer wrote them; functions for them are not called again. */
function instructionsOf(agent: BaseAgent): unknown[] {
  const root = agent.rootAgent;
  return [
    isLlmAgent(agent) ? agent.instruction : undefined,
    isLlmAgent(root) ? root.globalInstruction : undefined,
  ];
}
