import { AsyncLocalStorage } from 'node:async_hooks';
import { ActionDeniedError, hashArguments, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  type HookedCall,
  mcpErrorStatus,
  processWide,
  withMethods,
} from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { isCommand, isGraphBubbleUp, isParentCommand } from '@langchain/langgraph';
import { MiddlewareError, ToolInvocationError } from 'langchain';
import type { RunContext } from './run-context.ts';

/** A call that a hook of this package has seen. */
interface SeenCall {
  readonly toolName: string;
  readonly callId: string | undefined;
  /** The tool itself. */
  readonly tool: unknown;
  /** Name that the caller gave the tool's run. */
  readonly runName?: string | undefined;
}

/** An allowed call that is on its way to its tool. */
interface PassedCall {
  /**
   * Invokes the tool.
   *
   * @param input - a call of the model; middleware may also invoke the tool itself, with only the arguments
   * @param run - invokes the tool with this input
   */
  invoke(tool: object, input: unknown, config: RunContext | undefined, run: () => unknown): Promise<unknown>;
}

/** A call that a hook records. */
interface RecordedCall extends SeenCall {
  /** Recorder of the call. */
  readonly calls: AdapterCalls;
  /** The call on its way to the tool, if the hook does not pass on a tool that watches it. */
  readonly watched?: PassedCall | undefined;
}

/** A running call. */
interface UnderwayCall extends SeenCall {
  readonly calls: AdapterCalls | undefined;
  /** Recorder of the calls inside, if this one is not recorded because the options do not select its tool. */
  readonly covering?: AdapterCalls | undefined;
  readonly watched?: PassedCall | undefined;
  /** Run of the tool, if the call has no id. */
  runId: string | undefined;
  readonly outer: UnderwayCall | undefined;
}

/** A starting tool, as reported to callbacks. */
interface StartedTool {
  readonly toolName: string;
  readonly callId: string | undefined;
  readonly runId: string;
}

const underway = processWide('@actlog/langchain/recorded-calls', () => new AsyncLocalStorage<UnderwayCall>());

/** Runs a call, so that callbacks inside know that this recorder has it. */
export function asRecordedCall<Result>(call: RecordedCall, run: () => Result): Result {
  return underway().run({ ...call, runId: undefined, outer: underway().getStore() }, run);
}

/**
 * Runs a call that something nearer decides about: it is recorded by that, or not at all.
 *
 * @param covering - recorder of the calls inside. Default: that around the call
 */
export function asSeenCall<Result>(call: SeenCall, run: () => Result, covering?: AdapterCalls): Result {
  const outer = underway().getStore();
  return underway().run({ ...call, calls: undefined, covering, runId: undefined, outer }, run);
}

/** Returns the innermost running call. */
export function innermostCall(): Readonly<UnderwayCall> | undefined {
  return underway().getStore();
}

/** Returns the recorder of the innermost call that has one. */
export function recorderAround(): AdapterCalls | undefined {
  for (let call = underway().getStore(); call; call = call.outer) {
    const calls = call.calls ?? call.covering;
    if (calls) return calls;
  }
  return undefined;
}

/** Returns `true` if an outer hook records the call with this id. */
function isWithinCall(callId: string | undefined): boolean {
  let call = underway().getStore();
  while (call && (call.callId !== callId || !call.calls)) call = call.outer;
  return call !== undefined;
}

/**
 * Returns `true` if this recorder already records the call that a tool starts for; inner middleware may start it
 * repeatedly.
 */
export function isRecorded(recorder: object, started: StartedTool): boolean {
  for (let call = underway().getStore(); call; call = call.outer) {
    if (call.calls?.recorder === recorder && isSame(call, started)) return true;
  }
  return false;
}

function isSame(call: UnderwayCall, { toolName, callId, runId }: StartedTool): boolean {
  if (call.callId !== callId || !namesOf(call).includes(toolName)) return false;
  if (callId !== undefined) return true;
  // A tool that calls itself makes two calls.
  call.runId ??= runId;
  return call.runId === runId;
}

/** Returns the names under which a tool may start: the name of its run, of the tool or of its class. */
function namesOf({ toolName, tool, runName }: SeenCall): (string | undefined)[] {
  const { lc_id: id } = (tool ?? {}) as { lc_id?: readonly string[] };
  return [toolName, id?.at(-1), runName];
}

/** Properties of a tool call that its result message needs. */
interface CalledTool {
  readonly id?: string | undefined;
  readonly name: string;
}

/** A tool call from the model, which a ToolNode passes to the tool unchanged. */
export interface ModelCall {
  readonly type: 'tool_call';
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** Returns `true` if a tool is invoked with a call of the model rather than with arguments only. */
export function isModelCall(input: unknown): input is ModelCall {
  return typeof input === 'object' && input !== null && (input as { type?: unknown }).type === 'tool_call';
}

/** Errors behind messages, for an outer hook of this adapter, which only sees the message. */
const causes = processWide('@actlog/langchain/causes', () => new WeakMap<object, unknown>());

/**
 * Creates the message that tells the model why its tool call has no result.
 *
 * @param cause - error thrown by the tool or its guard
 */
export function errorMessage(call: CalledTool, content: string, cause: unknown): ToolMessage {
  const message = new ToolMessage({ content, tool_call_id: call.id ?? '', name: call.name, status: 'error' });
  // The message lives as long as the conversation, so keep the error only if an outer hook needs it.
  if (isWithinCall(call.id)) causes().set(message, cause);
  return message;
}

/** Returns the outcome, even if an inner hook of this adapter has converted an error to a message. */
function behindMessage(outcome: ToolOutcome): ToolOutcome {
  if (!outcome.ok || !ToolMessage.isInstance(outcome.result)) return outcome;
  const message = outcome.result;
  return causes().has(message) ? { ok: false, error: causes().get(message) } : outcome;
}

/**
 * Creates the message with which LangChain itself reports a tool's error when there is no middleware. Passing the error
 * on from a middleware would end the whole run, so the adapter uses LangChain's text.
 */
export function thrownMessage(call: CalledTool, error: unknown): ToolMessage {
  const content =
    error instanceof ToolInvocationError ? error.message : `${error}\n Please fix your mistakes.`;
  return errorMessage(call, content, error);
}

type Invoke = (input: unknown, ...rest: unknown[]) => unknown;

/** The used part of a tool. */
interface InvokedTool {
  readonly invoke: Invoke;
}

/**
 * Outcomes of tools with the allowed arguments, for calls whose hook sees another outcome. Undefined for a call that ran
 * only with other arguments. Shared by all copies of the package: the hook may be of one copy and the recorder of another.
 */
const outcomes = processWide(
  '@actlog/langchain/own-outcomes',
  () => new WeakMap<HookedCall, ToolOutcome | undefined>(),
);

/**
 * Returns the outcome of a call with its allowed arguments; undefined if it ran only with other arguments and was
 * recorded with those.
 *
 * @param seen - outcome that the hook of the whole call sees
 */
export function outcomeOf(seen: ToolOutcome, call: HookedCall): ToolOutcome | undefined {
  const outcome = outcomes().has(call) ? outcomes().get(call) : seen;
  return outcome && behindMessage(outcome);
}

/**
 * An allowed call on its way to the tool. Inner middleware may change the arguments before it invokes the tool: that is
 * then another call, which is checked and recorded separately.
 */
export class WatchedCall implements PassedCall {
  readonly #call: HookedCall;
  readonly #calls: AdapterCalls;
  /** Hash of the allowed arguments; undefined if no guard depends on them. */
  readonly #admitted: string | undefined;
  #outcome: ToolOutcome | undefined;

  private constructor(call: HookedCall, calls: AdapterCalls, admitted: string | undefined) {
    this.#call = call;
    this.#calls = calls;
    this.#admitted = admitted;
  }

  /**
   * Creates the call after its guard has seen it.
   *
   * @param args - arguments that the guard has allowed, which an approver may have changed
   */
  static async of(call: HookedCall, calls: AdapterCalls, args: unknown): Promise<WatchedCall> {
    return new WatchedCall(call, calls, calls.isGuarding ? await hashArguments(args) : undefined);
  }

  /** Records that the error of the tool, if it threw one, has become a result for the model. */
  rememberResult(): void {
    if (this.#outcome && !this.#outcome.ok) outcomes().set(this.#call, this.#outcome);
  }

  async invoke(
    tool: object,
    input: unknown,
    config: RunContext | undefined,
    run: () => unknown,
  ): Promise<unknown> {
    const modelCall = isModelCall(input) ? input : undefined;
    const args = modelCall ? modelCall.args : input;
    const invoked = () => {
      // A `signal` of `createAgent` is only visible to the tool, and may have aborted while the call was held.
      config?.signal?.throwIfAborted();
      return run();
    };
    if (this.#admitted === undefined) return this.#runTool(run, config?.signal);
    if ((await hashArguments(args)) === this.#admitted) return this.#runTool(invoked, config?.signal);
    const call = this.#call;
    outcomes().set(call, this.#outcome);
    // Inner middleware has the requested arguments, so the tool could not be run with others.
    const changed = { ...call, arguments: args, acceptsChanges: false };
    const recorded = { ...changed, callId: call.callId, calls: this.#calls, tool };
    try {
      return await this.#calls.run(changed, () => asRecordedCall(recorded, invoked));
    } catch (error) {
      if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
      return errorMessage(modelCall, error.message, error);
    }
  }

  /** Runs the tool and records its outcome. */
  async #runTool(run: () => unknown, signal: AbortSignal | undefined): Promise<unknown> {
    try {
      const result = await run();
      this.#setOutcome({ ok: true, result });
      return result;
    } catch (error) {
      this.#setOutcome({ ok: false, error });
      // The hook sees the error, but not this signal.
      if (signal?.aborted && (signal.reason as { name?: unknown } | undefined)?.name !== 'TimeoutError') {
        outcomes().set(this.#call, { ok: false, error: abandonedCall('The caller aborted the run.') });
      }
      throw error;
    }
  }

  #setOutcome(outcome: ToolOutcome): void {
    this.#outcome = outcome;
    if (outcomes().has(this.#call)) outcomes().set(this.#call, outcome);
  }
}

/** Returns the same tool for an allowed call. */
export async function watchedTool<Tool>(
  tool: Tool,
  call: HookedCall,
  calls: AdapterCalls,
  args: unknown,
): Promise<Tool> {
  if (!isInvoked(tool)) return tool;
  const watched = await WatchedCall.of(call, calls, args);
  const invoke: Invoke = (input, ...rest) =>
    watched.invoke(tool, input, rest[0] as RunContext | undefined, () => tool.invoke(input, ...rest));
  return withMethods(tool, { invoke });
}

function isInvoked<Tool>(tool: Tool): tool is Tool & InvokedTool & object {
  return typeof (tool as Partial<InvokedTool> | undefined)?.invoke === 'function';
}

/** Start of LangChain's error message for arguments that do not match a tool's schema. */
const unfitInput = 'Received tool input did not match expected schema';

/** Start of the messages of `@langchain/mcp-adapters` for an error result of a server, and for an error of the client. */
const ofMcpAdapters =
  /^(?:MCP tool '.*?' on server '.*?' returned an error: |Error calling tool .*?: (?:\w+: )?)/;

/** Unwraps the error thrown by a tool from the wrappers of inner middleware. */
export function thrownByTool(error: unknown): unknown {
  let thrown = error;
  while (MiddlewareError.isInstance(thrown)) thrown = thrown.cause;
  return thrown;
}

/** Returns `true` if an error is not a failure but interrupts or leaves the tool's graph. */
export function isInterruption(error: unknown): boolean {
  return typeof error === 'object' && error !== null && isGraphBubbleUp(error);
}

/**
 * Returns the status of a call from its outcome in LangChain: `null` if a graph was interrupted inside the tool and
 * will run it again, `undefined` to use the recorder's table.
 */
export function toolOutcomeStatus(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  if (!outcome.ok) return statusOfError(outcome.error, call);
  const { toolName, callId } = call;
  const message = isCommand(outcome.result) ? messageIn(outcome.result, callId) : outcome.result;
  if (!ToolMessage.isInstance(message) || message.status !== 'error') return undefined;
  return isUnknownTool(message.text, toolName) ? responseStatuses.unknownTool : responseStatuses.threw;
}

/** Returns `true` for the message of a tool node about a call of an unknown tool. */
function isUnknownTool(text: string, toolName: string): boolean {
  return (
    text.startsWith(`Error: ${toolName} is not a valid tool`) || // of `createAgent`
    text.startsWith(`Error: Tool "${toolName}" not found.`) // of LangGraph
  );
}

/** Returns the result message of a call, for a tool that adds it to the graph's state itself. */
function messageIn({ update }: { readonly update?: unknown }, callId: string | undefined): unknown {
  const { messages } = (update ?? {}) as { messages?: unknown };
  return [messages]
    .flat()
    .find((message) => ToolMessage.isInstance(message) && message.tool_call_id === callId);
}

function statusOfError(error: unknown, call: HookedCall): number | null | undefined {
  // A tool whose graph hands over to its parent has finished and is not run again.
  if (isInterruption(error)) return isParentCommand(error) ? responseStatuses.ok : null;
  return isInvalidInput(error, call) ? responseStatuses.invalidArguments : statusOfMcpError(error, call);
}

/**
 * Returns the status of an error of `@langchain/mcp-adapters`, which contains the message of the server or the client.
 */
function statusOfMcpError(error: unknown, { toolName }: HookedCall): number | undefined {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  if (name !== 'ToolException' || typeof message !== 'string') return undefined;
  return mcpErrorStatus(message.replace(ofMcpAdapters, ''), undefined, toolName);
}

/**
 * Returns `true` for an error about the input of this call. Errors thrown by the tool itself are recognized by their
 * text, because `require` and `import` load different copies of the class. A tool may pass on the error of another tool
 * that it calls with other input.
 */
function isInvalidInput(error: unknown, { arguments: args }: HookedCall): boolean {
  if (error instanceof ToolInvocationError) return true;
  if (!(error instanceof Error) || !error.message.startsWith(unfitInput)) return false;
  const { output } = error as { output?: unknown };
  return typeof output !== 'string' || inputIn(output) === JSON.stringify(args);
}

/** Returns the JSON of the arguments in the JSON of a tool's input, which may be the whole call. */
function inputIn(json: string): string | undefined {
  const input = JSON.parse(json) as { type?: unknown; args?: unknown } | null;
  return JSON.stringify(input?.type === 'tool_call' ? input.args : input);
}
