import { type AdapterCalls, noteTexts } from '@actlog/recorder/adapter';
import { jsonOf, textOf, toolSpanOf } from '@actlog/tool-call/spans';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { conversationOf } from './surroundings.ts';

/** Attributes with texts (OpenTelemetry's semantic conventions for GenAI). */
const messagesKey = 'gen_ai.input.messages';
const instructionsKey = 'gen_ai.system_instructions';

interface Message {
  readonly role?: unknown;
  readonly parts?: unknown;
}

interface Part {
  readonly type?: unknown;
  readonly content?: unknown;
}

/** Notes the texts that spans show of the user and of the system prompt, for argument origins. */
export class SpanTexts {
  readonly #calls: AdapterCalls;
  /** Texts by their span, because spans are read again and again while tools within them end. */
  readonly #noted = new WeakMap<ReadableSpan, string>();

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /**
   * Notes the texts of a span, unless it is within a tool's span: a model may have written those.
   *
   * @param around - enclosing spans, innermost first
   */
  note(span: ReadableSpan, around: readonly ReadableSpan[]): void {
    if (!this.#calls.tracesOrigins) return;
    const messages = textOf(span.attributes, messagesKey);
    const instructions = textOf(span.attributes, instructionsKey);
    if (messages === undefined && instructions === undefined) return;
    const shown = `${messages}\n${instructions}`;
    if (this.#noted.get(span) === shown) return;
    this.#noted.set(span, shown);
    noteTexts(this.#calls, () => {
      if (around.some((outer) => toolSpanOf(outer))) return {};
      const system = [textsOf(jsonOf(instructions) ?? instructions), ...byAuthor('system', messages)];
      return { sessionId: conversationOf(span, around), user: byAuthor('user', messages), system };
    });
  }
}

function byAuthor(author: 'user' | 'system', messages: string | undefined): unknown[] {
  const list = jsonOf(messages);
  if (!Array.isArray(list)) return [];
  return (list as readonly Message[])
    .filter((message) => message?.role === author)
    .map(({ parts }) => textsOf(parts));
}

/** Returns the texts of parts in the form of the conventions. */
function textsOf(parts: unknown): unknown {
  if (!Array.isArray(parts)) return parts;
  return (parts as readonly Part[]).map((part) => (part?.type === 'text' ? part.content : undefined));
}
