import { ActionDeniedError } from '@actlog/recorder';
import type { GenerateRequest, GenerateResponseData, ToolRequestPart, ToolResponsePart } from 'genkit';
import type { Coverage } from './coverage.ts';
import type { Generation } from './generation.ts';
import { currentRequest } from './genkit-context.ts';
import { deniedOutput, type RecordingHooks, runTool } from './recording-hooks.ts';
import type { Action, ActionFunction } from './registry.ts';
import { isInterrupt } from './tool-outcome.ts';

/** Runs the model and the tools of a generation without middleware, so that its tool calls are recorded and guarded. */
export class WrappedActions {
  readonly #generation: Generation;
  readonly #coverage: Coverage;
  readonly #hooks: RecordingHooks;
  #hasCalledModel = false;
  /** Tool calls of the model's last response. */
  #requests: readonly ToolRequestPart[] = [];
  readonly #begun = new WeakSet<ToolRequestPart>();

  constructor(generation: Generation, coverage: Coverage, hooks: RecordingHooks) {
    this.#generation = generation;
    this.#coverage = coverage;
    this.#hooks = hooks;
  }

  /** Returns a function that runs an action in place of its own; undefined for actions other than models and tools. */
  runnerOf(
    action: Action,
  ): ((run: ActionFunction, args: readonly unknown[]) => Promise<unknown>) | undefined {
    const { name, actionType } = action.__action;
    if (actionType === 'model') {
      return (run, args) => this.#generation.within(() => this.#runModel(run, args));
    }
    if (actionType !== 'tool' && actionType !== 'tool.v2' && actionType !== 'prompt') return undefined;
    const shortName = name.slice(name.lastIndexOf('/') + 1);
    return async (run, args) => {
      // Older versions of Genkit let a prompt take over the conversation, and pass it its input alone.
      const isHandover = actionType === 'prompt' && args.length < 2;
      try {
        const isMultipart = actionType === 'tool.v2';
        return await this.#generation.within(() => this.#runTool(shortName, isMultipart, run, args));
      } catch (error) {
        if (ActionDeniedError.isInstance(error) && !isHandover) {
          const output = deniedOutput(error);
          return actionType === 'tool.v2' ? { output } : output;
        }
        if (!isInterrupt(error)) this.#generation.fail(error);
        throw error;
      }
    };
  }

  async #runModel(run: ActionFunction, [input, context, ...more]: readonly unknown[]): Promise<unknown> {
    const request = input as GenerateRequest;
    const options = (context ?? {}) as { readonly abortSignal?: AbortSignal };
    const given = currentRequest();
    this.#hasCalledModel = true;
    this.#generation.begin({
      messages: given?.messages ?? request.messages,
      signal: options.abortSignal,
      returnsToolRequests: given?.returnToolRequests ?? false,
    });
    this.#generation.noteTexts();
    const response = await this.#hooks.model(
      request,
      options,
      (...args) => run(...args, ...more) as Promise<GenerateResponseData>,
    );
    const parts = response?.message?.content ?? [];
    this.#requests = parts.filter((part): part is ToolRequestPart => part.toolRequest !== undefined);
    return response;
  }

  async #runTool(
    name: string,
    isMultipart: boolean,
    run: ActionFunction,
    args: readonly unknown[],
  ): Promise<unknown> {
    const request = this.#requestOf(name, args[0]);
    let result: unknown;
    await runTool(this.#calls(), this.#generation, request, async (): Promise<ToolResponsePart> => {
      result = await run(...args);
      const shown = isMultipart ? (result as { output?: unknown; content?: unknown }) : { output: result };
      return { toolResponse: { name, ref: request.toolRequest.ref, ...shown } } as ToolResponsePart;
    });
    return result;
  }

  /** Returns the recorder of the next call. A tool that is started again runs before the model shows the signal. */
  #calls() {
    if (this.#hasCalledModel) return this.#coverage.calls;
    if (!this.#generation.hasTurn) {
      const messages = currentRequest()?.messages ?? [];
      this.#generation.begin({ messages, signal: undefined, returnsToolRequests: false });
    }
    return this.#coverage.callsWithoutSignal;
  }

  /** Returns the part of a message in which the model requested a call, which has the call's id. */
  #requestOf(name: string, input: unknown): ToolRequestPart {
    const requests = [...this.#requests, ...(currentRequest()?.resume?.restart ?? [])];
    const request = requests.find(
      (part) =>
        part.toolRequest.name === name && Object.is(part.toolRequest.input, input) && !this.#begun.has(part),
    );
    if (!request) return { toolRequest: { name, input } };
    this.#begun.add(request);
    return request;
  }
}
