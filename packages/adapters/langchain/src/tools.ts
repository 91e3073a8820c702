import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, withMethods } from '@actlog/recorder/adapter';
import type { StructuredToolInterface } from '@langchain/core/tools';
import { langChainCalls, surroundings } from './langchain-calls.ts';
import type { ActlogOptions } from './options.ts';
import { asRecordedCall } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';
import { errorMessage } from './tool-message.ts';

/** What `invoke` of a tool is given. */
interface Invocation {
  readonly input: unknown;
  readonly config: (RunContext & { readonly signal?: AbortSignal }) | undefined;
}

/** A tool call as the model made it, which a ToolNode passes to the tool whole. */
interface ModelCall {
  readonly type: 'tool_call';
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

function isModelCall(input: unknown): input is ModelCall {
  return typeof input === 'object' && input !== null && (input as { type?: unknown }).type === 'tool_call';
}

/** The wrapper behind `actlog.tools()`: the same tools, of the same types, recorded and guarded. */
export function recordTools<const Tools extends readonly StructuredToolInterface[]>(
  tools: Tools,
  options: ActlogOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  const calls = langChainCalls(options);
  return tools.map((tool) => (calls.covers(tool.name) ? wrapped(tool, calls) : tool)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function wrapped<Tool extends StructuredToolInterface>(tool: Tool, calls: AdapterCalls): Tool {
  return withMethods(tool, {
    invoke: (input: unknown, config?: Invocation['config']) =>
      recordInvocation(tool, calls, { input, config }),
  });
}

async function recordInvocation(
  tool: StructuredToolInterface,
  calls: AdapterCalls,
  { input, config }: Invocation,
): Promise<unknown> {
  const modelCall = isModelCall(input) ? input : undefined;
  const call = {
    ...surroundings(config),
    toolName: tool.name,
    arguments: modelCall ? modelCall.args : input,
    callId: modelCall?.id,
    signal: config?.signal,
  };
  try {
    const recorded = { ...call, recorder: calls.recorder, tool };
    return await calls.run(call, () =>
      asRecordedCall(recorded, () => tool.invoke(input as never, config as never)),
    );
  } catch (error) {
    if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
    return errorMessage(modelCall, error.message);
  }
}
