import { type Method, noteTexts } from '@actlog/recorder/adapter';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { processCoverage } from './coverage.ts';
import { endOfRun } from './denied-runs.ts';
import { hookedMethods } from './hooked-methods.ts';
import type { RequestedCall } from './open-requests.ts';
import { noteRequestedCalls } from './requested-calls.ts';
import { conversationOf, currentRun, nodeMessages, type RunContext } from './run-context.ts';
import { contentsOf } from './shown-texts.ts';

/**
 * Hooks models, which see the system prompt, and the conversation of a loop that the application writes. A run ends with a
 * message in place of the model's once the model has repeated a denied call too often.
 */
export function hookModels(prototype: object): void {
  hookedMethods.hook(prototype as Record<string, Method>, 'invoke', async (model: object, invoke, args) => {
    const end = endOfRun();
    if (end !== undefined) return new AIMessage(end);
    noteSystemPrompt(args[0]);
    const response = await invoke.apply(model, args);
    noteResponse(args, requestedIn(response), response);
    return response;
  });
  hookedMethods.hook(
    prototype as Record<string, Method>,
    '_streamIterator',
    (model: object, stream: Method<AsyncGenerator>, args) => noteStream(args, stream.apply(model, args)),
  );
}

/** Notes the calls of a streamed response when its stream ends. */
async function* noteStream(args: unknown[], stream: AsyncGenerator): AsyncGenerator {
  const end = endOfRun();
  if (end !== undefined) {
    yield new AIMessageChunk(end);
    return;
  }
  noteSystemPrompt(args[0]);
  const streamed = new StreamedCalls();
  let only: unknown;
  for await (const chunk of stream) {
    streamed.add(chunk);
    only = chunk;
    yield chunk;
  }
  noteResponse(args, streamed.calls(), only);
}

function noteResponse(
  [input, config]: unknown[],
  requested: readonly RequestedCall[],
  message: unknown,
): void {
  const calls = processCoverage.current;
  if (!calls) return;
  try {
    noteRequestedCalls(calls, { input, config: config as RunContext, requested, message });
  } catch {
    // A prompt or a message that cannot be read: its calls get a session of their own.
  }
}

function requestedIn(response: unknown): readonly RequestedCall[] {
  const { tool_calls: requested } = (response ?? {}) as { tool_calls?: unknown };
  return Array.isArray(requested) ? requested : [];
}

function noteSystemPrompt(input: unknown): void {
  const calls = processCoverage.current;
  if (!calls?.tracesOrigins) return;
  noteTexts(calls, () => {
    const run = currentRun();
    const system = contentsOf(input, 'system');
    return { sessionId: conversationOf(run, nodeMessages(run), calls), system };
  });
}

/** A part of a streamed call. */
interface CallChunk {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: string | undefined;
}

/** Calls in the chunks of a streamed response. */
class StreamedCalls {
  readonly #parts = new Map<string | number, { id: string | undefined; name: string; args: string[] }>();
  readonly #whole: RequestedCall[] = [];

  /** Adds a chunk of the response. */
  add(chunk: unknown): void {
    const { tool_call_chunks: parts, tool_calls: whole } = (chunk ?? {}) as {
      tool_call_chunks?: readonly CallChunk[];
      tool_calls?: readonly RequestedCall[];
    };
    if (Array.isArray(parts) && parts.length > 0) for (const part of parts) this.#addPart(part);
    else if (Array.isArray(whole)) this.#whole.push(...whole);
  }

  /** Returns the calls of all chunks so far. */
  calls(): RequestedCall[] {
    const parts = [...this.#parts.values()].map(({ id, name, args }) => ({
      id,
      name,
      args: parsed(args.join('')),
    }));
    return [...this.#whole, ...parts];
  }

  #addPart({ index, id, name = '', args = '' }: CallChunk): void {
    const key = index ?? id ?? this.#parts.size;
    const part = this.#parts.get(key) ?? { id, name: '', args: [] };
    this.#parts.set(key, part);
    part.id ??= id;
    part.name += name;
    part.args.push(args);
  }
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args || '{}');
  } catch {
    return args; // the model wrote something else
  }
}
