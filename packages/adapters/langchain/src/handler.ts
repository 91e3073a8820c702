import type { ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, noteTexts, type RecordOnlyOptions, refuseGuard } from '@actlog/recorder/adapter';
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { Serialized } from '@langchain/core/load/serializable';
import type { BaseMessage } from '@langchain/core/messages';
import { isRecorded } from './changed-call.ts';
import { type ActlogOptions, contentsOf, inputContents, langChainCalls } from './langchain-calls.ts';
import { agentOf, sessionOf } from './run-context.ts';

/** Maximum number of calls to remember, because LangChain does not report the end of every call. */
const maxCalls = 10_000;

/** A call that has started. */
interface Begun {
  readonly toolName: string;
  readonly input: string;
  readonly callId: string | undefined;
  readonly metadata: Record<string, unknown> | undefined;
}

/** Creates the handler behind `actlog.handler()`. */
export function recordHandler(
  options: RecordOnlyOptions<Omit<ActlogOptions, 'onToolError'>> = {},
): BaseCallbackHandler {
  refuseGuard(options, 'middleware: [actlog({ guard })]');
  return new ToolCallHandler(langChainCalls(options));
}

/** Records calls from LangChain's callbacks, which follow a run into sub-agents and sub-graphs. */
class ToolCallHandler extends BaseCallbackHandler {
  override name = 'actlog';
  readonly #calls: AdapterCalls;
  /** Calls by run id, because a handler that is attached twice is called twice with the same run id. */
  readonly #begun = new Map<string, Begun>();
  readonly #inner = new InnerRuns();

  constructor(calls: AdapterCalls) {
    // Awaited, so that all events are recorded when a run has ended.
    const ignoresTexts = !calls.tracesOrigins;
    super({
      ignoreLLM: ignoresTexts,
      ignoreChain: ignoresTexts,
      ignoreRetriever: true,
      _awaitHandler: true,
    });
    this.#calls = calls;
  }

  override handleChainStart(
    _chain: Serialized,
    inputs: unknown,
    runId: string,
    parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): void {
    this.#inner.begin(runId, parentRunId);
    if (parentRunId !== undefined) return; // its input may be a model's
    noteTexts(this.#calls, () => ({ ...surroundings(metadata), user: inputContents(inputs) }));
  }

  override handleChainEnd(_outputs: unknown, runId: string): void {
    this.#inner.end(runId);
  }

  override handleChainError(_error: unknown, runId: string): void {
    this.#inner.end(runId);
  }

  override handleChatModelStart(
    _model: Serialized,
    [messages]: BaseMessage[][],
    _runId: string,
    parentRunId?: string,
    _extra?: Record<string, unknown>,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): void {
    if (this.#inner.has(parentRunId)) return;
    noteTexts(this.#calls, () => ({
      ...surroundings(metadata),
      // A node of a graph may put tool results into a new user message.
      user: parentRunId === undefined ? contentsOf(messages, 'human') : [],
      system: contentsOf(messages, 'system'),
    }));
  }

  override handleToolStart(
    tool: Serialized,
    input: string,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
    callId?: string,
  ): void {
    if (this.#calls.tracesOrigins) this.#inner.beginTool(runId);
    const toolName = runName ?? tool.id.at(-1) ?? 'unknown';
    if (isRecorded(this.#calls.recorder, { toolName, callId, runId })) return;
    this.#begun.set(runId, { toolName, input, callId, metadata });
    if (this.#begun.size > maxCalls) this.#begun.delete(this.#begun.keys().next().value as string);
  }

  override handleToolEnd(output: unknown, runId: string): void {
    // A tool of a custom class starts under its class name and ends under its tool name.
    const name = (output as { name?: unknown } | undefined)?.name;
    this.#end(runId, { ok: true, result: output }, typeof name === 'string' ? name : undefined);
  }

  override handleToolError(error: unknown, runId: string): void {
    this.#end(runId, { ok: false, error });
  }

  #end(runId: string, outcome: ToolOutcome, name?: string): void {
    this.#inner.end(runId);
    const begun = this.#begun.get(runId);
    if (!begun) return;
    this.#begun.delete(runId);
    const toolName = name || begun.toolName;
    if (!this.#calls.covers(toolName)) return;
    const { input, callId, metadata } = begun;
    const call = { toolName, arguments: parsed(input), callId, ...surroundings(metadata) };
    this.#calls.record(call, outcome);
  }
}

/** Returns the properties of a call that LangChain passes to callbacks. */
function surroundings(metadata: Record<string, unknown> | undefined) {
  return { sessionId: sessionOf({ metadata }), agentId: agentOf({ metadata }) };
}

/** Parses arguments, which callbacks receive as text, so that their hash is the same as in the other hooks. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Maximum number of runs to remember, because LangChain does not report the end of every run. */
const maxRuns = 10_000;

/** Runs of tools and everything inside them, whose messages are not the user's but a model's or a tool's. */
class InnerRuns {
  readonly #runs = new Set<string>();

  /** Tracks a run that starts within a tool's run. */
  begin(runId: string, parentRunId: string | undefined): void {
    if (this.has(parentRunId)) this.beginTool(runId);
  }

  /** Tracks the run of a tool that starts. */
  beginTool(runId: string): void {
    this.#runs.add(runId);
    if (this.#runs.size > maxRuns) this.#runs.delete(this.#runs.values().next().value as string);
  }

  /** Forgets a run that has ended. */
  end(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Returns `true` for the run of a tool, and for one inside it. */
  has(runId: string | undefined): boolean {
    return runId !== undefined && this.#runs.has(runId);
  }
}
