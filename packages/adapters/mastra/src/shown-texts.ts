import { type AdapterCalls, type HookedCall, noteTexts } from '@actlog/recorder/adapter';
import { instructionsOf } from './instructions.ts';
import type { Invocation } from './invocation.ts';
import { around } from './session.ts';

/** A message of any version of Mastra. */
interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/**
 * Notes the texts that an agent's run was started with, for argument origins.
 *
 * @param call - call of a tool by the agent
 * @param messages - conversation of the agent
 */
export function noteRun(
  calls: AdapterCalls,
  { sessionId, agentId }: HookedCall,
  messages: unknown,
  { requestContext, tracingContext }: Invocation,
): void {
  noteTexts(calls, () => {
    const locations = [...around(tracingContext?.currentSpan)];
    // The first may be the span of the call itself.
    if (locations.slice(1).some(({ isCall }) => isCall)) return {};
    const all = messagesOf(messages);
    // Mastra adds what its memory holds as further system messages, and models wrote that.
    const first = all[0]?.role === 'system' ? all.slice(0, 1) : [];
    const traced = locations.map(({ instructions }) => instructions);
    const system = [...contents(first), ...contents(instructionsOf(agentId, requestContext)), ...traced];
    return { sessionId, user: userContents(all), system };
  });
}

/** Returns the contents of the user's messages: of a list, of an object with one, or of a text. */
export function userContents(messages: unknown): unknown[] {
  if (typeof messages === 'string') return [messages];
  return contents(messagesOf(messages).filter((message) => message?.role === 'user'));
}

function messagesOf(messages: unknown): readonly (Message | null | undefined)[] {
  const list = (messages as { readonly messages?: unknown } | null | undefined)?.messages ?? messages;
  return Array.isArray(list) ? list : [];
}

/** Returns what each message says: a text or parts. Mastra's stored messages have their parts one level deeper. */
function contents(messages: readonly unknown[]): unknown[] {
  return messages.map((message) => {
    if (typeof message !== 'object' || message === null) return message;
    const { content } = message as { readonly content?: unknown };
    return (content as { readonly parts?: unknown } | null | undefined)?.parts ?? content;
  });
}
