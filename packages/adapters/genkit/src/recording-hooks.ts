import { ActionDeniedError, type ApprovedChange, responseStatuses } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import type {
  GenerateMiddleware,
  GenerateMiddlewareDef,
  GenerateRequest,
  GenerateResponseData,
  ToolRequestPart,
} from 'genkit';
import type { Generation } from './generation.ts';

/** Hooks of a middleware that record and guard the tool calls of a generation. */
export type RecordingHooks = Required<Pick<GenerateMiddlewareDef, 'generate' | 'model' | 'tool'>>;

/** Creates the hooks of a generation. */
export function recordingHooks(generation: Generation, calls: AdapterCalls): RecordingHooks {
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
        const error = Object.assign(new Error('Unknown tool.'), { status: responseStatuses.unknownTool });
        calls.record(generation.hookedCall(part), { ok: false, error });
      }
      return response;
    },
    async tool(request, context, next) {
      const { name, ref } = request.toolRequest;
      try {
        return await runTool(calls, generation, request, (input, change) => {
          if (!change) return next(request, context);
          return next({ ...request, toolRequest: { ...request.toolRequest, input } }, context);
        });
      } catch (error) {
        if (!ActionDeniedError.isInstance(error)) throw error;
        // Rethrowing would end the whole generation while the other tools of the turn continue.
        return { toolResponse: { name, ...(ref !== undefined && { ref }), output: deniedOutput(error) } };
      }
    },
  };
}

/**
 * Records and guards a tool call, if its tool is covered.
 *
 * @throws ActionDeniedError when the guard denies the call
 */
export function runTool<Result>(
  calls: AdapterCalls,
  generation: Generation,
  request: ToolRequestPart,
  run: (input: unknown, change?: ApprovedChange) => Promise<Result>,
): Promise<Result> {
  const { name, input } = request.toolRequest;
  if (!calls.covers(name)) return run(input);
  return calls.run({ ...generation.hookedCall(request), acceptsChanges: true }, run);
}

/** Returns the output of a denied call. */
export function deniedOutput({ message }: Error): { error: string } {
  return { error: message };
}

/** Returns the requests of unknown tools, on which Genkit fails the whole generation before any tool hook. */
function unknownToolRequests(request: GenerateRequest, response: GenerateResponseData): ToolRequestPart[] {
  const known = new Set(request.tools?.map(({ name }) => name));
  return (response.message?.content ?? []).filter(
    (part): part is ToolRequestPart => part.toolRequest !== undefined && !known.has(part.toolRequest.name),
  );
}

/** Function of an action. */
export type ActionFunction = (...args: unknown[]) => Promise<unknown>;

/** A model, a tool or a prompt: a function with a description. */
export interface Action extends ActionFunction {
  readonly __action: { readonly name: string; readonly actionType?: string };
}

/**
 * Genkit's registry. Each generation has one, which takes its model, tools and middleware from its parent, the registry
 * of the application.
 */
export interface Registry {
  readonly parent?: Registry | undefined;
  lookupAction(key: string): Promise<Action | undefined>;
  lookupValue(type: string, key: string): Promise<GenerateMiddleware | object | undefined>;
}

/** The class of registries. Genkit may have two copies of it, for `import` and for `require`. */
export interface RegistryClass {
  withParent(parent: Registry): Registry;
}

/** Returns the registry of the application that a registry belongs to. */
export function rootOf(registry: Registry): Registry {
  return registry.parent ? rootOf(registry.parent) : registry;
}
