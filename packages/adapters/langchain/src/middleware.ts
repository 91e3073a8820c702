import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, noteTexts, ownName } from '@actlog/recorder/adapter';
import { type AgentMiddleware, createMiddleware, MiddlewareError } from 'langchain';
import { watchedTool } from './changed-call.ts';
import { hookInnerCalls } from './inner-calls.ts';
import { langChainCalls } from './langchain-calls.ts';
import type { ActlogOptions } from './options.ts';
import { asRecordedCall } from './recorded-calls.ts';
import { agentOf, conversationOf, currentRun, type RunContext } from './run-context.ts';
import { noteMessages } from './shown-texts.ts';
import { errorMessage, thrownMessage } from './tool-message.ts';
import { isInterruption, thrownByTool } from './tool-outcome.ts';
import { recordInnerCall } from './tools.ts';

/** Creates the middleware behind `actlog()`. */
export function recordMiddleware(options: ActlogOptions = {}): AgentMiddleware {
  const calls = langChainCalls(options);
  hookInnerCalls(recordInnerCall);
  return createMiddleware({
    name: ownName('langchain'), // LangChain rejects two middlewares with the same name, and an agent with two should work
    ...(calls.tracesOrigins && { wrapModelCall: noteSystemPrompt(calls) }),
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime } = request;
      if (!calls.covers(toolCall.name)) return handler(request);
      const { messages } = request.state;
      const run = runOf(runtime);
      const sessionId = conversationOf(run, messages, calls);
      noteMessages(calls, () => ({ messages, sessionId }));
      const { name: toolName, id: callId } = toolCall;
      calls.conversations.note(messages, { toolName, callId }, sessionId);
      const call = {
        sessionId,
        agentId: agentOf(run),
        toolName,
        arguments: toolCall.args,
        callId,
        signal: runtime.signal,
      };
      try {
        const recorded = { ...call, calls, tool: request.tool };
        const proceed = async () =>
          handler(
            calls.isGuarding ? { ...request, tool: await watchedTool(request.tool, call, calls) } : request,
          );
        return await calls.run(call, () => asRecordedCall(recorded, proceed));
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
