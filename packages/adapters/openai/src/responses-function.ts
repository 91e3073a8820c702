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

/** What records the calls of a function. */
export interface ResponsesCalls {
  readonly calls: AdapterCalls;
  /** The same for calls that hear of no abort, and can not be held therefore. */
  readonly unheld: AdapterCalls;
}

/** The same function with its calls recorded and guarded. */
export function recordedResponsesFunction(
  own: ResponsesFunction,
  { calls, unheld }: ResponsesCalls,
): ResponsesFunction {
  const { execute } = own;
  const hooked: Execute = (args, options) =>
    recordExecution(calls, callOf(own, args, options?.signal), () => execute.call(own, args, options));
  // Functions that the SDK made stand ready in two stages: first all calls of a turn are checked, then they run. The
  // first stage stands on `execute` under a symbol, and neither is told of an abort.
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

function prepared(prepare: Prepare, args: object, hear: (error: unknown) => void): () => unknown {
  try {
    return prepare(args);
  } catch (error) {
    hear(error);
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
