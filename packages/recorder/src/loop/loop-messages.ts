import type { ShownTexts } from '../adapter/shown-texts.ts';

/** A message of any provider. */
interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
  /** Content in Gemini's format. */
  readonly parts?: unknown;
  /** Calls as the clients of Mistral and Cohere name them. */
  readonly toolCalls?: unknown;
}

/** Returns the messages in a form in which their calls are recognized. Those of the user stay the same objects. */
export function conversationOf(messages: readonly unknown[] | undefined): readonly unknown[] | undefined {
  return messages?.map((message) => {
    const { toolCalls } = (message ?? {}) as Message;
    return toolCalls === undefined ? message : { ...(message as Message), tool_calls: toolCalls };
  });
}

/** Returns what the user and the developer wrote. */
export function textsOf(messages: readonly unknown[] = [], system: unknown): ShownTexts {
  const written = (messages as readonly (Message | null | undefined)[]).map((message) => message ?? {});
  const by = (...roles: unknown[]) =>
    written.filter(({ role }) => roles.includes(role)).map(({ content, parts }) => content ?? parts);
  return { user: by('user'), system: [system, ...by('system', 'developer')] };
}
