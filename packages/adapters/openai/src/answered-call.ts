import { ActionDeniedError, responseStatuses } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import { parsedArguments } from './arguments-text.ts';
import type { AskedCall } from './asked-call.ts';
import { callIdOf } from './call-ids.ts';
import { noteInvalidArguments } from './openai-calls.ts';

/** Context of a call, passed to its function beside the arguments. */
export interface CallContext {
  /** Id of the call. */
  readonly callId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** Namespace of the tool, if it has one. */
  readonly namespace?: string | undefined;
  /** Signal passed with the model's response. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Tool functions by name. Each receives the parsed arguments; that of a custom tool receives the text. A returned
 * string is sent unchanged, other values as JSON.
 */
export type ToolFunctions = Readonly<Record<string, (args: never, context: CallContext) => unknown>>;

/** A function for all tools. */
export type RunCall = (args: unknown, context: CallContext) => unknown;

/** Context of running a call. */
export interface CallSurroundings {
  readonly calls: AdapterCalls;
  readonly functions: ToolFunctions | RunCall;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** The conversation before the call, if known. */
  readonly messages: unknown;
}

/**
 * Runs a call and returns the text for the model, also for errors.
 *
 * @throws the error of the call if the signal has aborted, because there is no further request
 */
export async function answeredCall(call: AskedCall, surroundings: CallSurroundings): Promise<string> {
  try {
    return await recordedRun(call, surroundings);
  } catch (error) {
    if (surroundings.signal?.aborted) throw error;
    if (ActionDeniedError.isInstance(error)) return error.message;
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function recordedRun(requested: AskedCall, surroundings: CallSurroundings): Promise<string> {
  const { calls, functions, sessionId, signal, messages } = surroundings;
  const { id: callId, name: toolName, namespace, text, isFreeText } = requested;
  const args = isFreeText ? text : parsedArguments(text || '{}');
  const call = { toolName, arguments: args, callId: callIdOf(args, callId), sessionId, signal };
  calls.conversations.note(messages, { toolName, callId }, sessionId);
  const isCovered = calls.covers(toolName);
  const refused = refusal(requested, args, functions);
  if (refused) {
    if (isCovered) calls.record(call, { ok: false, error: refused });
    throw refused;
  }
  const own = typeof functions === 'function' ? functions : (functions[toolName] as RunCall);
  let output = '';
  const run = async () => {
    const result = await own(args, { callId, toolName, namespace, signal });
    // Part of the call, because an error here is reported to the model as a failure.
    output = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    return result;
  };
  await (isCovered ? calls.run(call, run) : run());
  return output;
}

/** Returns the reason why a call cannot be run. */
function refusal(
  { name, text, isFreeText, isTruncated }: AskedCall,
  args: unknown,
  functions: CallSurroundings['functions'],
): Error | undefined {
  if (typeof functions !== 'function' && !Object.hasOwn(functions, name)) {
    const error = new Error(`There is no tool named ${JSON.stringify(name)}.`);
    return Object.assign(error, { status: responseStatuses.unknownTool });
  }
  if (isTruncated) return invalidArguments('The call was truncated.');
  if (isFreeText || text === '' || args !== text) return undefined;
  return invalidArguments('The arguments are not JSON.');
}

function invalidArguments(message: string): Error {
  const error = new Error(message);
  noteInvalidArguments(error);
  return error;
}
