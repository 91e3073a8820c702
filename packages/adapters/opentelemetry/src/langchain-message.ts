import { jsonOf } from './span-attributes.ts';

/** What a LangChain tool message says of the call that it answers. */
export interface AnsweredCall {
  readonly toolName: string | undefined;
  readonly callId: string | undefined;
}

interface Serialized {
  readonly kwargs?: { readonly name?: unknown; readonly tool_call_id?: unknown };
  readonly output?: Serialized;
}

/** Reads a serialized tool message, as tracers of LangChain put it into the span of a tool. */
export function answeredCall(output: string | undefined): AnsweredCall {
  const message = jsonOf(output) as Serialized | null | undefined;
  const { name, tool_call_id: callId } = (message?.output ?? message)?.kwargs ?? {};
  return {
    toolName: typeof name === 'string' ? name : undefined,
    callId: typeof callId === 'string' ? callId : undefined,
  };
}
