import { jsonValue } from '../lib/json-value.ts';
import { currentCall } from '../recording/active-call.ts';
import type { AdapterCalls } from './adapter-calls.ts';

/** User and system messages as a framework shows them: strings, or lists of parts of which some are text. */
export interface ShownTexts {
  /** The framework's session. */
  readonly sessionId?: string | undefined;
  readonly user?: Iterable<unknown> | undefined;
  readonly system?: Iterable<unknown> | undefined;
}

/**
 * Passes messages to {@link AdapterCalls.noteText}. Errors thrown by the framework's getters do not reach the agent.
 *
 * Does nothing while origins are off, or while a call of any recorder runs: a model may have written the prompt of an
 * agent inside a tool.
 *
 * @param read - reads the messages; called only if they are used
 */
export function noteTexts(calls: AdapterCalls, read: () => ShownTexts): void {
  if (!calls.tracesOrigins || currentCall() !== undefined) return;
  try {
    const { sessionId, user = [], system = [] } = read();
    for (const content of system) {
      for (const text of textsOf(content)) calls.noteText('system', text, sessionId);
    }
    for (const content of user) for (const text of textsOf(content)) calls.noteText('user', text, sessionId);
  } catch {
    // A getter of the framework's message threw. What is not known counts as written by the model.
  }
}

/** Returns the text of a message: the content itself if it is a string, or the text of each part that has any. */
function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    if (typeof part === 'string') return [part];
    const text = (part as { readonly text?: unknown } | null | undefined)?.text;
    return typeof text === 'string' ? [text] : [];
  });
}

/** Contents of messages: strings, or lists of parts of which some are text. */
export interface ChatTexts {
  readonly user: unknown[];
  readonly system: unknown[];
}

/** Returns the contents that the user and the developer wrote in messages `{ role, content }`, or `{ role, parts }`. */
export function chatTexts(messages: unknown): ChatTexts {
  const user: unknown[] = [];
  const system: unknown[] = [];
  for (const message of Array.isArray(messages) ? messages : []) {
    const { role, content, parts } = (message ?? {}) as Record<string, unknown>;
    if (role === 'user') user.push(content ?? parts);
    else if (role === 'system' || role === 'developer') system.push(content ?? parts);
  }
  return { user, system };
}

/** Types of the blocks of a tool's result (Model Context Protocol, "Tool Result"). */
const blockTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** Longest text that is parsed as JSON, in characters. */
const maxJsonLength = 256 * 1024;

interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly resource?: { readonly text?: unknown } | null;
}

/**
 * Returns what a model sees of a tool's result in the format of the Model Context Protocol: its structured content and
 * the text of its blocks, parsed where it is JSON. Returns any other result unchanged.
 *
 * @param result - the result, or only its blocks
 */
export function toolContent(result: unknown): unknown {
  const { content, structuredContent } = (Array.isArray(result) ? { content: result } : (result ?? {})) as {
    readonly content?: unknown;
    readonly structuredContent?: unknown;
  };
  const isContent = Array.isArray(content) && content.every(isBlock);
  if (!isContent) return structuredContent === undefined ? result : structuredContent;
  const shown = content.flatMap(shownBlock);
  if (structuredContent !== undefined) shown.push(structuredContent);
  return shown.length === 1 ? shown[0] : shown;
}

function isBlock(value: unknown): boolean {
  return typeof value === 'object' && value !== null && blockTypes.has((value as Block).type);
}

function shownBlock({ type, text, resource, ...rest }: Block): unknown[] {
  if (type === 'text') return [parsedText(text)];
  if (type === 'resource') return [parsedText(resource?.text)];
  return type === 'resource_link' ? [rest] : [];
}

/** Parses a string that contains a JSON object or array; returns any other value unchanged. */
function parsedText(text: unknown): unknown {
  return typeof text === 'string' ? (jsonValue(text, maxJsonLength) ?? text) : text;
}
