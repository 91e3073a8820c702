import { type AdapterCalls, MethodHooks } from '@actlog/recorder/adapter';
import { StructuredTool } from '@langchain/core/tools';
import { callAround } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';
import { isModelCall, type ModelCall } from './tool-message.ts';

/** A model's tool call made by an agent inside a covered call. */
export interface InnerCall {
  readonly tool: StructuredTool;
  readonly call: ModelCall;
  readonly config: RunContext | undefined;
  /** Recorder of the outer call. */
  readonly calls: AdapterCalls;
  readonly run: () => unknown;
}

const methods = new MethodHooks('@actlog/langchain/hooked-methods');

/**
 * Hooks tools, so that calls of agents and graphs inside a covered call are recorded like that call. LangChain does not
 * pass an agent's middleware to agents run by its tools, such as the subagents of `createDeepAgent`.
 *
 * @param record - records a call, and runs it if the guard allows it
 */
export function hookInnerCalls(record: (inner: InnerCall) => Promise<unknown>): void {
  methods.hook(StructuredTool.prototype, 'invoke', (tool: StructuredTool, invoke, args) => {
    const [input, config] = args as [unknown, RunContext | undefined];
    const run = () => invoke.apply(tool, args);
    const around = isModelCall(input) ? callAround(input.id) : undefined;
    if (!around?.covers(tool.name)) return run();
    return record({ tool, call: input as ModelCall, config, calls: around, run });
  });
}
