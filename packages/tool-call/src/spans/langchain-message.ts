import { jsonOf } from './span-attributes.ts';

/** Call that a LangChain tool message belongs to. */
export interface AnsweredCall {
  readonly toolName: string | undefined;
  readonly callId: string | undefined;
  /** `true` if the message reports an error of the tool to the model. */
  readonly hasFailed: boolean;
}

interface Message {
  readonly name?: unknown;
  readonly tool_call_id?: unknown;
  readonly status?: unknown;
}

/** A message as LangChain serializes it, or the fields of the message itself, as in Python. */
interface Serialized extends Message {
  readonly kwargs?: Message;
  readonly output?: Serialized;
}

/** Parses a serialized tool message, which LangChain tracers store in the span of a tool. */
export function answeredCall(output: string | undefined): AnsweredCall {
  // Results are long, and most are no message.
  const message = output?.includes('tool_call_id')
    ? (jsonOf(output) as Serialized | null | undefined)
    : undefined;
  const answer = message?.output ?? message;
  const fields = answer?.kwargs ?? (answer?.tool_call_id === undefined ? {} : answer);
  const { name, tool_call_id: callId, status } = fields;
  return {
    toolName: typeof name === 'string' ? name : undefined,
    callId: typeof callId === 'string' ? callId : undefined,
    hasFailed: typeof callId === 'string' && status === 'error',
  };
}
