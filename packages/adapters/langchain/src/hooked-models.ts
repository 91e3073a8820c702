import { type Method, noteTexts } from '@actlog/recorder/adapter';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { processCoverage } from './coverage.ts';
import { endOfRun } from './denied-runs.ts';
import { hookedMethods } from './hooked-methods.ts';
import type { RequestedCall } from './open-requests.ts';
import { noteRequestedCalls } from './requested-calls.ts';
import { conversationOf, currentRun, nodeMessages, type RunContext } from './run-context.ts';
import { contentsOf } from './shown-texts.ts';
import { StreamedCalls } from './streamed-calls.ts';

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
