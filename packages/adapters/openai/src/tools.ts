import { type AdapterOptions, refuseOptions } from '@actlog/recorder/adapter';
import { type ChatTool, nameOf, recordedChatTool } from './chat-tool.ts';
import { openAICalls } from './openai-calls.ts';
import { type ResponsesFunction, recordedResponsesFunction } from './responses-function.ts';
import { hookToolRunner } from './tool-runner.ts';

/**
 * Tools of the SDK's loops: those of `runTools`, functions of the tool runner for the Responses API, and tools that
 * only OpenAI can run.
 */
export type AnyTool =
  | {
      readonly type: 'function';
      readonly function: {
        readonly name?: string | undefined;
        readonly description?: string | undefined;
        readonly parameters?: unknown;
        readonly strict?: boolean | null | undefined;
        // biome-ignore lint/suspicious/noExplicitAny: the SDK checks what a function takes where the tools are used
        readonly function?: (args: any, runner: any, context: any) => unknown;
        // biome-ignore lint/suspicious/noExplicitAny: as above
        readonly parse?: (input: string) => any;
      };
    }
  | {
      readonly tool: { readonly name: string };
      // biome-ignore lint/suspicious/noExplicitAny: as above
      readonly execute: (args: any, options?: any) => unknown;
    }
  | { readonly type: string };

/** Wraps tools for `actlog()`: the same tools, of the same types, recorded and guarded. */
export function recordTools<const Tools extends readonly AnyTool[]>(
  tools: Tools,
  options: AdapterOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog(tools, { guard })');
  const calls = openAICalls(options);
  const unheld = openAICalls(options, false);
  hookToolRunner();
  return tools.map((tool) => {
    if ('execute' in tool && calls.covers(tool.tool.name)) {
      return recordedResponsesFunction(tool as ResponsesFunction, { calls, unheld });
    }
    const isChatTool = 'function' in tool && calls.covers(nameOf(tool as ChatTool));
    return isChatTool ? recordedChatTool(tool as ChatTool, calls) : tool;
  }) as { -readonly [Index in keyof Tools]: Tools[Index] };
}
