import { ActionDeniedError } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import { callIdOf } from './call-ids.ts';
import { noteInvalidArguments } from './openai-calls.ts';

type Execute = (args: object, options?: { readonly signal?: AbortSignal | undefined }) => unknown;

/** A function of the tool runner for the Responses API. */
export interface ResponsesFunction {
  readonly tool: { readonly name: string };
  readonly execute: Execute;
}

/** Recorders of a function's calls. */
export interface ResponsesCalls {
  readonly calls: AdapterCalls;
  /** The same for calls that do not notice an abort and therefore cannot be held. */
  readonly unheld: AdapterCalls;
}

/** Returns the same function with its calls recorded and guarded. */
export function recordedResponsesFunction(
  own: ResponsesFunction,
  { calls, unheld }: ResponsesCalls,
): ResponsesFunction {
  const { execute } = own;
  const hooked: Execute = (args, options) =>
    recordExecution(calls, callOf(own, args, options?.signal), () => execute.call(own, args, options));
  // Functions created by the SDK run in two stages: first all calls of a turn are validated, then they run. The first
  // stage is a property of `execute` under a symbol, and neither stage receives a signal.
  for (const stage of Object.getOwnPropertySymbols(execute)) {
    const prepare = (execute as unknown as Record<symbol, unknown>)[stage];
    if (typeof prepare !== 'function') continue;
    const value = (args: object) => {
      const run = prepared(prepare as Prepare, args, (error) => {
        if (noteInvalidArguments(error)) unheld.record(callOf(own, args), { ok: false, error });
      });
      return () => recordExecution(unheld, callOf(own, args), run);
    };
    Object.defineProperty(hooked, stage, { value });
  }
  return Object.create(Object.getPrototypeOf(own), {
    ...Object.getOwnPropertyDescriptors(own),
    execute: { value: hooked, enumerable: true },
  });
}

type Prepare = (args: object) => () => unknown;

function prepared(prepare: Prepare, args: object, onError: (error: unknown) => void): () => unknown {
  try {
    return prepare(args);
  } catch (error) {
    onError(error);
    throw error;
  }
}

function callOf({ tool }: ResponsesFunction, args: object, signal?: AbortSignal) {
  return { toolName: tool.name, arguments: args, callId: callIdOf(args), signal };
}

async function recordExecution(
  calls: AdapterCalls,
  call: ReturnType<typeof callOf>,
  run: () => unknown,
): Promise<unknown> {
  try {
    return await calls.run(call, run);
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) return error.message; // thrown, it would end the run
    throw error;
  }
}
