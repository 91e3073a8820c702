import { jsonValue } from '../lib/json-value.ts';

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
 * the texts of its blocks, as values where they are JSON. Returns any other result unchanged.
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

/** Returns the value of a text that is a JSON object or array, else the text itself. */
function parsedText(text: unknown): unknown {
  return typeof text === 'string' ? (jsonValue(text, maxJsonLength) ?? text) : text;
}
