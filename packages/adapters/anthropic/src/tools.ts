import { type AdapterCalls, type Wrapping, withMethods } from '@actlog/recorder/adapter';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type { BetaRunnableToolset } from '@anthropic-ai/sdk/lib/tools/BetaRunnableToolset';
import type { BetaToolUnion } from '@anthropic-ai/sdk/resources/beta';
import { anthropicCalls } from './anthropic-calls.ts';
import { throwForModel } from './denial.ts';
import { isInvalidInput, noteInvalidInput } from './invalid-input.ts';
import type { ActlogOptions } from './options.ts';
import { type RefusedInput, toolUses } from './tool-uses.ts';

/** What a tool runner takes: its own tools and toolsets, and those that Anthropic runs. */
type RunnerTool = BetaToolUnion | BetaRunnableTool | BetaRunnableToolset;

type Run = (...args: unknown[]) => unknown;

/** A tool or toolset that this process runs. */
interface Runnable {
  readonly run: Run;
  readonly parse?: (content: unknown) => unknown;
  /** Of toolsets: answers a call of a loop that is written by hand, by `run`. */
  readonly toolResult?: Run;
  /** Toolsets have none: their calls carry the names of their members. */
  readonly name?: string;
}

/** What a tool is told of the call that it runs for. */
interface RunContext {
  readonly toolUse?: { readonly id: string; readonly name: string; readonly input: unknown };
  readonly signal?: AbortSignal | null;
}

/** The wrapper behind `actlog()`: the same tools, of the same types, recorded and guarded. */
export function recordTools<Tools extends readonly RunnerTool[]>(
  tools: readonly [...Tools],
  options: ActlogOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  const calls = anthropicCalls(options);
  return tools.map((tool) => {
    const isRecorded = isRunnable(tool) && (tool.name === undefined || calls.covers(tool.name));
    return isRecorded ? wrapped(tool, calls) : tool;
  }) as { -readonly [Index in keyof Tools]: Tools[Index] };
}

function isRunnable(tool: unknown): tool is Runnable {
  return typeof (tool as Partial<Runnable> | undefined)?.run === 'function';
}

/** Only what runs a call and `parse` change; all else, marks and private fields too, is the tool's own. */
function wrapped(tool: Runnable, calls: AdapterCalls): Runnable {
  const run: Run = (...args) => recordRun(tool, calls, args, { wrapper: run, wrapped: tool.run });
  const parse = (content: unknown) => recordParse(tool, calls, content);
  const toolResult: Run = (...args) => tool.toolResult?.apply(recorded, args);
  const methods = { run, ...(tool.parse && { parse }), ...(tool.toolResult && { toolResult }) };
  const recorded: Runnable = withMethods(tool, methods, 'class-methods');
  return recorded;
}

async function recordRun(tool: Runnable, calls: AdapterCalls, args: unknown[], wrapping: Wrapping) {
  // A tool is run with its input and the context, a toolset with the context and the call.
  const [input, context] = (tool.name === undefined ? [undefined, args[0]] : args) as [unknown, RunContext?];
  const use = context?.toolUse;
  const toolName = use?.name ?? tool.name ?? 'unknown';
  if (!calls.covers(toolName)) return tool.run(...args);
  if (use) {
    await toolUses().caughtUp();
    toolUses().claim(use.id, calls.recorder);
  }
  const call = {
    toolName,
    arguments: use ? use.input : input,
    callId: use?.id,
    wrapping,
    signal: context?.signal ?? undefined,
    sessionId: use && toolUses().find(use.id)?.sessionId,
  };
  return calls.run(call, () => tool.run(...args)).catch(throwForModel);
}

/** An input that does not fit never reaches `run`. */
function recordParse(tool: Runnable, calls: AdapterCalls, content: unknown): unknown {
  try {
    return tool.parse?.(content);
  } catch (error) {
    const isKnown = isInvalidInput(error); // by a wrapper further in
    noteInvalidInput(error);
    const { recorder } = calls;
    if (!isKnown) recordRefused({ toolName: tool.name ?? 'unknown', input: content, recorder, error }, calls);
    throw error;
  }
}

/** A tool is not told which call its input is of. */
function recordRefused(refused: RefusedInput, calls: AdapterCalls): void {
  const { toolName, input, recorder, error } = refused;
  const call = () => {
    const { id: callId, sessionId } = toolUses().claimInput(toolName, input, recorder) ?? {};
    return { toolName, arguments: input, callId, sessionId };
  };
  const outcome = { ok: false, error } as const;
  if (toolUses().areStreaming) {
    toolUses().refuse(refused);
    void toolUses()
      .caughtUp()
      .then(() => {
        if (toolUses().forget(refused)) calls.recordLate(call(), outcome);
      });
  } else calls.record(call(), outcome);
}
