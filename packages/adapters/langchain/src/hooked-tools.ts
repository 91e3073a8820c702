import type { AdapterCalls } from '@actlog/recorder/adapter';
import type { ClientTool } from '@langchain/core/tools';
import { processCoverage } from './coverage.ts';
import { hookedMethods } from './hooked-methods.ts';
import { recordInvocation } from './invocation.ts';
import { asRecordedCall, innermostCall, recorderAround } from './recorded-calls.ts';
import type { RunContext } from './run-context.ts';
import { isModelCall } from './tool-message.ts';

interface InvokedTool {
  invoke(...args: unknown[]): unknown;
}

/**
 * Hooks the tools of a class, so that calls are recorded that neither a middleware nor a hooked tool node has seen:
 * those of agents inside a covered call, and everything while the process is covered. LangChain does not pass an agent's
 * middleware to agents run by its tools, such as the subagents of `createDeepAgent`.
 */
export function hookTools(prototype: object): void {
  hookedMethods.hook(prototype as InvokedTool, 'invoke', (tool: ClientTool, invoke, args) => {
    const [input, config] = args as [unknown, RunContext | undefined];
    const run = () => invoke.apply(tool, args);
    if (isUnderway(tool, input)) return underwayInvocation(tool, input, config, run);
    const calls = coverageOf(tool, input);
    if (!calls?.covers(tool.name)) return run();
    return recordInvocation(tool, calls, { input, config, run, wrapping: { wrapper: tool, wrapped: tool } });
  });
}

/** Returns `true` if the innermost running call is this invocation, and another hook has it. */
function isUnderway(tool: unknown, input: unknown): boolean {
  const innermost = innermostCall();
  if (!innermost) return false;
  return isModelCall(input) ? innermost.callId === input.id : innermost.tool === tool;
}

/** Invokes the tool of a call that another hook has. */
function underwayInvocation(
  tool: object,
  input: unknown,
  config: RunContext | undefined,
  run: () => unknown,
): unknown {
  const { watched, calls, ...call } = innermostCall() ?? {};
  if (!watched || !calls) return run();
  const seen = call as { toolName: string; callId: string | undefined; tool: unknown };
  return watched.invoke(tool, input, config, () => asRecordedCall({ ...seen, calls }, run));
}

/**
 * Returns the recorder of an invocation, also of one by another tool: its arguments may be the model's, whose code an
 * interpreter runs. A tool of the same name that is given only arguments is the one that is running, behind a wrapper.
 */
function coverageOf(tool: ClientTool, input: unknown): AdapterCalls | undefined {
  if (innermostCall()?.toolName === tool.name && !isModelCall(input)) return undefined;
  return recorderAround() ?? processCoverage.current;
}
