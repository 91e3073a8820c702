import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, noteTexts, ownName } from '@actlog/recorder/adapter';
import { type AgentMiddleware, createMiddleware, MiddlewareError } from 'langchain';
import { watchedTool } from './changed-call.ts';
import { runCounted } from './denied-runs.ts';
import { hookLangChain } from './hooks.ts';
import { langChainCalls, surroundings } from './langchain-calls.ts';
import type { ActlogOptions } from './options.ts';
import { noteMiddleware } from './own-agents.ts';
import { asRecordedCall, asSeenCall } from './recorded-calls.ts';
import { conversationOf, currentRun, type RunContext } from './run-context.ts';
import { noteMessages } from './shown-texts.ts';
import { errorMessage, thrownMessage } from './tool-message.ts';
import { isInterruption, thrownByTool } from './tool-outcome.ts';

/** Creates the middleware behind `actlog()`. */
export function recordMiddleware(options: ActlogOptions = {}): AgentMiddleware {
  const calls = langChainCalls(options);
  hookLangChain();
  const middleware = createMiddleware({
    name: ownName('langchain'), // LangChain rejects two middlewares with the same name, and an agent with two should work
    ...(calls.tracesOrigins && { wrapModelCall: noteSystemPrompt(calls) }),
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime } = request;
      try {
        if (!calls.covers(toolCall.name)) {
          const seen = { toolName: toolCall.name, callId: toolCall.id, tool: request.tool };
          return await asSeenCall(seen, () => handler(request), calls);
        }
        return await runRecorded(request, handler, calls);
      } catch (error) {
        if (isInterruption(error) || runtime.signal?.aborted) throw error;
        const thrown = thrownByTool(error);
        if (ActionDeniedError.isInstance(thrown)) return errorMessage(toolCall, thrown.message, thrown);
        // An error of other middleware would end the run without this one, too.
        if (options.onToolError === 'throw' || MiddlewareError.isInstance(error)) throw error;
        return thrownMessage(toolCall, error);
      }
    },
  });
  noteMiddleware(middleware);
  return middleware;
}

type ToolHook = NonNullable<AgentMiddleware['wrapToolCall']>;
type ToolRequest = Parameters<ToolHook>[0];

/** Records a call, and runs it if the guard allows it. */
async function runRecorded(
  request: ToolRequest,
  handler: Parameters<ToolHook>[1],
  calls: AdapterCalls,
): Promise<Awaited<ReturnType<ToolHook>>> {
  const { toolCall, runtime, tool } = request;
  const { messages } = request.state;
  const called = { toolName: toolCall.name, callId: toolCall.id };
  const place = surroundings(calls, { ...called, run: runOf(runtime), messages });
  noteMessages(calls, () => ({ messages, sessionId: place.sessionId }));
  const call = { ...place, ...called, arguments: toolCall.args, signal: runtime.signal };
  const proceed = async () =>
    handler(calls.isGuarding ? { ...request, tool: await watchedTool(tool, call, calls) } : request);
  return runCounted(calls, call, () => asRecordedCall({ ...call, calls, tool }, proceed));
}

type ModelHook = NonNullable<AgentMiddleware['wrapModelCall']>;

/** Creates the hook that sees the system prompt, for the origins of arguments. */
function noteSystemPrompt(calls: AdapterCalls): ModelHook {
  return (request, handler) => {
    noteTexts(calls, () => ({
      sessionId: conversationOf(runOf(request.runtime), request.state.messages, calls),
      system: [request.systemMessage.content],
    }));
    return handler(request);
  };
}

/** Returns the run that a hook is called in. */
function runOf({ configurable }: { readonly configurable?: unknown }): RunContext {
  return { ...currentRun(), configurable: configurable as RunContext['configurable'] };
}
