import { parseExactJson, responseStatuses, stringifyExactJson } from '@actlog/tool-call';
import type { AdapterCalls } from '../adapter/adapter-calls.ts';
import type { ApprovedChange } from '../events/tool-call.ts';
import { ActionDeniedError } from '../guard/action-denied-error.ts';

/** Context of a call, passed to its function beside the arguments. */
export interface CallContext {
  /** The provider's id of the call, if it has one. */
  readonly callId: string | undefined;
  /** Name of the tool. */
  readonly toolName: string;
  /** Namespace of the tool, if the provider has namespaces. */
  readonly namespace?: string | undefined;
  /** Signal passed with the model's output, or one that never aborts. */
  readonly signal: AbortSignal;
}

/**
 * Functions by the names of their tools. Each receives the arguments that the model wrote, parsed and unchecked. A
 * returned string is sent unchanged, any other value as JSON.
 */
export type LoopFunctions = Readonly<Record<string, (args: never, context: CallContext) => unknown>>;

/** A function for all tools. */
export type RunTool = (args: unknown, context: CallContext) => unknown;

/** Result of a call, in no provider's format. */
export interface CallResult {
  /** The provider's id of the call, if it has one. */
  readonly id?: string;
  readonly name: string;
  /** Text for the model: a returned string unchanged, any other value as JSON, or why there is none. */
  readonly content: string;
  /** `true` if the function did not return. */
  readonly isError: boolean;
}

/** Context of running the calls of an output. */
export interface RunContext {
  readonly calls: AdapterCalls;
  readonly functions: LoopFunctions | RunTool;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The conversation before the call, if known. */
  readonly messages: unknown;
}

/**
 * Runs a call and returns its result for the model, also for errors.
 *
 * @throws the error of the call if the signal has aborted, because there is no further request
 */
export async function runCall(requested: RequestedCall, context: RunContext): Promise<CallResult> {
  const { id, name } = requested;
  const result = { ...(id !== undefined && { id }), name };
  try {
    return { ...result, content: await recordedRun(requested, context), isError: false };
  } catch (error) {
    if (context.signal?.aborted) throw error;
    return { ...result, content: messageOf(error), isError: true };
  }
}

function messageOf(error: unknown): string {
  if (ActionDeniedError.isInstance(error)) return error.message;
  // An error of another realm, such as one of Node in jest, is no instance of this one's class.
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return `Error: ${typeof message === 'string' ? message : String(error)}`;
}

async function recordedRun(requested: RequestedCall, context: RunContext): Promise<string> {
  const { calls, functions, sessionId, signal, messages } = context;
  const { id: callId, name: toolName, namespace } = requested;
  const read = readArguments(requested);
  const call = { toolName, arguments: read.value, callId, sessionId, signal };
  calls.conversations.note(messages, { toolName, callId }, sessionId);
  const isCovered = calls.covers(toolName);
  const refused = refusal(toolName, read, functions);
  if (refused) {
    if (isCovered) calls.record(call, { ok: false, error: refused });
    throw refused;
  }
  const own = typeof functions === 'function' ? functions : (functions[toolName] as RunTool);
  let content = '';
  const argumentsFor = (args: unknown, change: ApprovedChange | undefined): unknown => {
    if (read.parsed === undefined) return args;
    return change ? JSON.parse(stringifyExactJson(args) ?? 'null') : read.parsed;
  };
  const run = async (args: unknown, change?: ApprovedChange) => {
    // A function may be a method that uses its object.
    const result = await own.call(functions, argumentsFor(args, change), {
      callId,
      toolName,
      ...(namespace !== undefined && { namespace }),
      signal: signal ?? new AbortController().signal,
    });
    // Part of the call, because an error here is reported to the model as a failure.
    content = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    if (change) content = `${content}\n\n${change.notice}`;
    return result;
  };
  await (isCovered ? calls.run({ ...call, acceptsChanges: true }, run) : run(read.value));
  return content;
}

/** Returns the reason why a call cannot be run, with the status to record. */
function refusal(
  toolName: string,
  { problem }: ReadArguments,
  functions: RunContext['functions'],
): (Error & { readonly status: number }) | undefined {
  if (typeof functions !== 'function' && !Object.hasOwn(functions, toolName)) {
    return refusedWith(responseStatuses.unknownTool, `There is no tool named ${JSON.stringify(toolName)}.`);
  }
  return problem === undefined ? undefined : refusedWith(responseStatuses.invalidArguments, problem);
}

function refusedWith(status: number, message: string): Error & { readonly status: number } {
  return Object.assign(new Error(message), { status });
}

/** A tool call that a model requests, in any provider's format. */
export interface RequestedCall {
  /** The provider's id of the call, if it has one. */
  readonly id?: string | undefined;
  readonly name: string;
  /** Namespace of the tool; tools of different namespaces may have the same name. */
  readonly namespace?: string | undefined;
  /** An object, or its JSON text as the model wrote it. */
  readonly arguments: unknown;
  /** `true` if the arguments are free-form text instead of JSON. */
  readonly isFreeText?: boolean | undefined;
  /** `true` if the call may lack a part, because the model's output was cut off. */
  readonly isTruncated?: boolean | undefined;
}

/** Arguments of a call. */
interface ReadArguments {
  /** Value to record and check, in which the numbers of a JSON text have all their digits. */
  readonly value: unknown;
  /** The same for the function, as `JSON.parse` returns it; undefined if the arguments are no JSON text. */
  readonly parsed?: unknown;
  /** Set if the call cannot run with them. */
  readonly problem?: string;
}

/** Reads the arguments of a call: JSON text is parsed, free-form text stays, and no arguments are an empty object. */
function readArguments({ arguments: given, isFreeText, isTruncated }: RequestedCall): ReadArguments {
  const read = typeof given === 'string' && !isFreeText ? parse(given) : { value: given ?? {} };
  return isTruncated ? { ...read, problem: 'The call was truncated.' } : read;
}

function parse(text: string): ReadArguments {
  if (text.trim() === '') return { value: {} };
  try {
    return { value: parseExactJson(text), parsed: JSON.parse(text) };
  } catch {
    return { value: text, problem: 'The arguments are not JSON.' };
  }
}

/** Marks the last call of an output that was cut off. */
export function markTruncated(calls: readonly RequestedCall[], isTruncated: boolean): RequestedCall[] {
  return calls.map((call, index) =>
    isTruncated && index === calls.length - 1 ? { ...call, isTruncated } : call,
  );
}
