import { responseStatuses } from '@actlog/recorder';
import type { BaseTool, InvocationContext, LlmResponse } from '@google/adk';
import { failed, type ResponseCall } from './response-call.ts';

/** The tools that the model was told of last. */
const toldTools = new WeakMap<InvocationContext, Readonly<Record<string, BaseTool>>>();

/** Takes note of the tools of a request to the model. */
export function tellTools(context: InvocationContext, tools: Readonly<Record<string, BaseTool>>): void {
  toldTools.set(context, tools);
}

/** What the model asked for that is not there. ADK ends the run for it before any tool callback. */
export function unknownToolCalls(context: InvocationContext, response: LlmResponse): ResponseCall[] {
  const tools = toldTools.get(context);
  if (!tools) return [];
  return (response.content?.parts ?? []).flatMap(({ functionCall }) => {
    const { name = '', args = {}, id } = functionCall ?? {};
    if (!functionCall || name in tools) return [];
    const outcome = failed(responseStatuses.unknownTool, 'The tool is not there.');
    return [{ toolName: name, arguments: args, callId: id, outcome, source: functionCall }];
  });
}
