import type { ToolOutcome } from '@actlog/recorder';
import { AdapterCalls, type AdapterOptions, toolContent } from '@actlog/recorder/adapter';
import type { ToolCallUpdate } from './messages.ts';

/** Options of {@link actlog}: the options of every adapter, and if allowed calls need the user's permission. */
export interface ActlogOptions extends AdapterOptions {
  /**
   * `true` grants a request for permission if the guard allows the call, so that the user decides only what the guard
   * does not check. Requires a guard in mode `enforce`. Default `false`: the user decides about allowed calls.
   */
  readonly allowWithoutAsking?: boolean | undefined;
}

/** Result of a call that had not ended when its turn did. */
export const unfinished = { status: 'unfinished' } as const;

/** Creates the `AdapterCalls` of this adapter. */
export function acpCalls({ allowWithoutAsking, ...options }: ActlogOptions): AdapterCalls {
  const calls = new AdapterCalls(
    {
      framework: 'acp',
      sdk: `@actlog/acp/${version}`,
      form: 'actlog(app, { guard })',
      optionNames: ['allowWithoutAsking'],
      statusOf: (outcome) => (outcome.ok && outcome.result === unfinished ? 202 : undefined),
      resultOf: (result) => (result === unfinished ? undefined : toolContent(result)),
    },
    options,
  );
  if (allowWithoutAsking !== undefined && typeof allowWithoutAsking !== 'boolean') {
    throw new TypeError(
      `allowWithoutAsking must be a boolean, got ${typeof allowWithoutAsking}: pass true or omit it.`,
    );
  }
  if (allowWithoutAsking && !calls.isGuarding) {
    throw new TypeError(
      'allowWithoutAsking requires a guard in mode "enforce": pass one, because otherwise every call would be allowed.',
    );
  }
  return calls;
}

/**
 * Returns the name of a tool, or its kind if it has none, such as `edit` or `execute`. Titles are written for people
 * and differ in each call.
 */
export function toolNameOf({ name, kind }: ToolCallUpdate): string {
  return name || kind || 'other';
}

/** Returns the arguments of a call: its raw input, otherwise all that the agent says about it. */
export function argumentsOf({ rawInput, title, locations }: ToolCallUpdate): unknown {
  if (rawInput !== undefined && rawInput !== null) return rawInput;
  return { ...(title && { title }), ...(locations && locations.length > 0 && { locations }) };
}

/** Returns the outcome of a call that has ended; undefined for any other. */
export function outcomeOf({ status, rawOutput, content }: ToolCallUpdate): ToolOutcome | undefined {
  if (status === 'failed') return { ok: false, error: new Error('The tool call failed.') };
  if (status !== 'completed') return undefined;
  return { ok: true, result: rawOutput ?? (content ?? []).flatMap(contentBlock) };
}

/** Returns the block of a content, in the format of the Model Context Protocol. */
function contentBlock(content: unknown): unknown[] {
  const {
    type,
    content: block,
    newText,
  } = (content ?? {}) as { type?: unknown; content?: unknown; newText?: unknown };
  if (type === 'content') return [block];
  return type === 'diff' ? [{ type: 'text', text: newText }] : [];
}

/** Version of this package; the release writes it. */
export const version = '0.0.0';
