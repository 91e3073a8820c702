import { ActionDeniedError } from '@actlog/recorder';
import { ownName } from '@actlog/recorder/adapter';
import { type AgentMiddleware, createMiddleware, MiddlewareError } from 'langchain';
import { watchedTool } from './changed-call.ts';
import { langChainCalls, surroundings } from './langchain-calls.ts';
import type { ActlogOptions } from './options.ts';
import { asRecordedCall } from './recorded-calls.ts';
import { currentRun } from './run-context.ts';
import { errorMessage, thrownMessage } from './tool-message.ts';
import { isInterruption, thrownByTool } from './tool-outcome.ts';

/** The middleware behind `actlog()`. */
export function recordMiddleware(options: ActlogOptions = {}): AgentMiddleware {
  const calls = langChainCalls(options);
  return createMiddleware({
    name: ownName('langchain'), // LangChain refuses two middlewares of one name, and an agent that has two is to run
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime } = request;
      if (!calls.covers(toolCall.name)) return handler(request);
      const run = {
        ...currentRun(),
        configurable: runtime.configurable as Record<string, unknown> | undefined,
      };
      const call = {
        ...surroundings(run, request.state.messages),
        toolName: toolCall.name,
        arguments: toolCall.args,
        callId: toolCall.id,
        signal: runtime.signal,
      };
      try {
        const recorded = { ...call, recorder: calls.recorder, tool: request.tool };
        const goOn = async () =>
          handler(
            calls.isGuarding ? { ...request, tool: await watchedTool(request.tool, call, calls) } : request,
          );
        return await calls.run(call, () => asRecordedCall(recorded, goOn));
      } catch (error) {
        if (isInterruption(error) || runtime.signal?.aborted) throw error;
        const thrown = thrownByTool(error);
        if (ActionDeniedError.isInstance(thrown)) return errorMessage(toolCall, thrown.message, thrown);
        // What other middleware throws of its own would end the run without this one, too.
        if (options.onToolError === 'throw' || MiddlewareError.isInstance(error)) throw error;
        return thrownMessage(toolCall, error);
      }
    },
  });
}
