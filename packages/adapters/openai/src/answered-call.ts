import { ActionDeniedError, responseStatuses } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import { parsedArguments } from './arguments-text.ts';
import type { AskedCall } from './asked-call.ts';
import { callIdOf } from './call-ids.ts';
import { noteInvalidArguments } from './openai-calls.ts';

/** What a function is given beside its arguments. */
export interface CallContext {
  /** The id of the call. */
  readonly callId: string;
  /** The name of the tool. */
  readonly toolName: string;
  /** The namespace of the tool, where it stands in one. */
  readonly namespace?: string | undefined;
  /** What was given for the answer. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Functions by the names of the tools that they are. Each is given the arguments as the model wrote them, parsed; that
 * of a custom tool is given the text. A text that one returns is told as it is, all else as JSON.
 */
export type ToolFunctions = Readonly<Record<string, (args: never, context: CallContext) => unknown>>;

/** One function for all tools. */
export type RunCall = (args: unknown, context: CallContext) => unknown;

/** What a call is run with. */
export interface CallSurroundings {
  readonly calls: AdapterCalls;
  readonly functions: ToolFunctions | RunCall;
  readonly sessionId: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs a call and gives what the model is told of it, errors too.
 *
 * @throws what the call throws once the signal has aborted: there is nobody to tell
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

async function recordedRun(asked: AskedCall, surroundings: CallSurroundings): Promise<string> {
  const { calls, functions, sessionId, signal } = surroundings;
  const { id: callId, name: toolName, namespace, text, isFreeText } = asked;
  const args = isFreeText ? text : parsedArguments(text || '{}');
  const call = { toolName, arguments: args, callId: callIdOf(args, callId), sessionId, signal };
  const isCovered = calls.covers(toolName);
  const refused = refusal(asked, args, functions);
  if (refused) {
    if (isCovered) calls.record(call, { ok: false, error: refused });
    throw refused;
  }
  const own = typeof functions === 'function' ? functions : (functions[toolName] as RunCall);
  let told = '';
  const run = async () => {
    const result = await own(args, { callId, toolName, namespace, signal });
    // A part of the call: where this throws, the model is told of a failure.
    told = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    return result;
  };
  await (isCovered ? calls.run(call, run) : run());
  return told;
}

/** Why a call cannot be run at all. */
function refusal(
  { name, text, isFreeText, isCutOff }: AskedCall,
  args: unknown,
  functions: CallSurroundings['functions'],
): Error | undefined {
  if (typeof functions !== 'function' && !Object.hasOwn(functions, name)) {
    const error = new Error(`There is no tool named ${JSON.stringify(name)}.`);
    return Object.assign(error, { status: responseStatuses.unknownTool });
  }
  if (isCutOff) return invalidArguments('The call was cut off.');
  if (isFreeText || text === '' || args !== text) return undefined;
  return invalidArguments('The arguments are no JSON.');
}

function invalidArguments(message: string): Error {
  const error = new Error(message);
  noteInvalidArguments(error);
  return error;
}
