import { jsonOf } from './span-attributes.ts';

/** Call that a LangChain tool message belongs to. */
export interface AnsweredCall {
  readonly toolName: string | undefined;
  readonly callId: string | undefined;
}

interface Serialized {
  readonly kwargs?: { readonly name?: unknown; readonly tool_call_id?: unknown };
  readonly output?: Serialized;
}

/** Parses a serialized tool message, which LangChain tracers store in the span of a tool. */
export function answeredCall(output: string | undefined): AnsweredCall {
  const message = jsonOf(output) as Serialized | null | undefined;
  const { name, tool_call_id: callId } = (message?.output ?? message)?.kwargs ?? {};
  return {
    toolName: typeof name === 'string' ? name : undefined,
    callId: typeof callId === 'string' ? callId : undefined,
  };
}
