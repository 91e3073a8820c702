import { responseStatuses } from '@actlog/recorder';
import type { BaseTool, InvocationContext, LlmResponse } from '@google/adk';
import { failed, type ResponseCall } from './response-call.ts';

/** Tools of the last request to the model. */
const offeredTools = new WeakMap<InvocationContext, Readonly<Record<string, BaseTool>>>();

/** Notes the tools of a request to the model. */
export function noteTools(context: InvocationContext, tools: Readonly<Record<string, BaseTool>>): void {
  offeredTools.set(context, tools);
}

/** Returns the calls of unknown tools, for which ADK ends the run before any tool callback. */
export function unknownToolCalls(context: InvocationContext, response: LlmResponse): ResponseCall[] {
  const tools = offeredTools.get(context);
  if (!tools) return [];
  return (response.content?.parts ?? []).flatMap(({ functionCall }) => {
    const { name = '', args = {}, id } = functionCall ?? {};
    if (!functionCall || name in tools) return [];
    const outcome = failed(responseStatuses.unknownTool, 'Unknown tool.');
    return [{ toolName: name, arguments: args, callId: id, outcome, source: functionCall }];
  });
}
