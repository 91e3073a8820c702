import { ActionDeniedError, responseStatuses } from '@actlog/recorder';
import { type AdapterOptions, ownName } from '@actlog/recorder/adapter';
import { type GenerateMiddleware, generateMiddleware } from 'genkit';
import { Generation } from './generation.ts';
import { genkitCalls } from './genkit-calls.ts';
import { unknownToolRequests } from './unknown-tools.ts';

/** Creates the middleware behind `actlog()`. */
export function recordMiddleware(options: AdapterOptions = {}): ReturnType<GenerateMiddleware> {
  const calls = genkitCalls(options);
  // Genkit treats two middlewares with the same name as one, whatever their options.
  const name = ownName('genkit');
  const middleware = generateMiddleware({ name, description: 'Records and guards tool calls.' }, ({ ai }) => {
    const generation = new Generation(ai, calls);
    return {
      generate(envelope, context, next) {
        const { messages, returnToolRequests: returnsToolRequests = false } = envelope.request;
        const turn = { messages, signal: context.abortSignal, returnsToolRequests };
        return generation.run(turn, () => {
          generation.noteTexts();
          return next(envelope, context);
        });
      },
      async model(request, context, next) {
        const response = await next(request, context);
        if (!generation.runsTools) return response;
        for (const part of unknownToolRequests(request, response)) {
          if (!calls.covers(part.toolRequest.name) || !calls.claim(part)) continue;
          const error = Object.assign(new Error('Unknown tool.'), {
            status: responseStatuses.unknownTool,
          });
          calls.record(generation.hookedCall(part), { ok: false, error });
        }
        return response;
      },
      async tool(request, context, next) {
        const { name: toolName, ref } = request.toolRequest;
        if (!calls.covers(toolName)) return next(request, context);
        try {
          return await calls.run(generation.hookedCall(request), () => next(request, context));
        } catch (error) {
          if (!ActionDeniedError.isInstance(error)) throw error;
          // Rethrowing would end the whole generation while the other tools of the turn continue.
          return {
            toolResponse: {
              name: toolName,
              ...(ref !== undefined && { ref }),
              output: { error: error.message },
            },
          };
        }
      },
    };
  });
  return middleware();
}
