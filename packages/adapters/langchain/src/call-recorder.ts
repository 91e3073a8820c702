import {
  type AdapterRecorder,
  defaultResponseStatus,
  type ResponseStatusMapping,
  sharedRecorder,
  type ToolOutcome,
} from '@actlog/recorder';
import type { ActlogOptions, ToolFilter } from './options.ts';
import { agentOf, currentRun, type RunContext, sessionOf } from './run-context.ts';
import { thrownByTool, toolOutcomeStatus } from './tool-outcome.ts';
import { version } from './version.ts';

const identity = { framework: 'langchain', sdk: `@actlog/langchain/${version}` };

/** A tool call as LangChain's hooks see it. */
export interface HookedCall {
  readonly toolName: string;
  readonly arguments: unknown;
  readonly callId: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The configuration of the run, where the hook is given it; else that of the run under way. */
  readonly run?: RunContext | undefined;
  /** The conversation so far, where the hook sees it. */
  readonly messages?: unknown;
}

/** Passes LangChain's calls to the recorder, in the recorder's terms. */
export class LangChainCalls {
  readonly #options: ActlogOptions;
  readonly #recorder: AdapterRecorder;

  constructor(options: ActlogOptions) {
    if (options.recorder && options.guard) {
      throw new TypeError('guard: it belongs to the recorder; pass it to `new Recorder({ guard })` instead.');
    }
    this.#options = options;
    this.#recorder = (options.recorder ?? sharedRecorder({ guard: options.guard })).forAdapter(identity);
  }

  /** Whether the options name this tool. */
  covers(toolName: string): boolean {
    const { include, exclude } = this.#options;
    return (include === undefined || names(include, toolName)) && !(exclude && names(exclude, toolName));
  }

  /** Runs a call: recorded, and guarded where the recorder's guard says so. */
  run<Result>(call: HookedCall, run: () => Result | Promise<Result>): Promise<Result> {
    const { signal } = call;
    const facts = this.#facts(call);
    const responseStatusOf = this.#statusOf(call);
    return this.#recorder.toolCall({ ...facts, callId: call.callId, signal, responseStatusOf }, run);
  }

  /** Records a call that has ended, unless its end was no end. */
  record(call: HookedCall, outcome: ToolOutcome): void {
    const mapped = this.#statusOf(call)(outcome);
    if (mapped === null) return;
    const responseStatus = mapped ?? defaultResponseStatus(outcome, false);
    this.#recorder.record({ ...this.#facts(call), responseStatus });
  }

  #facts(call: HookedCall) {
    const { agentId, sessionId, toolName } = this.#options;
    const run = call.run ?? currentRun();
    const session = typeof sessionId === 'function' ? sessionId() : sessionId;
    return {
      toolName: toolName?.(call.toolName) ?? call.toolName,
      arguments: call.arguments,
      sessionId: session ?? sessionOf(run, call.messages),
      agentId: agentId ?? agentOf(run),
    };
  }

  #statusOf({ toolName, signal }: HookedCall): ResponseStatusMapping {
    const { responseStatus } = this.#options;
    return (wrapped) => {
      const outcome: ToolOutcome = wrapped.ok ? wrapped : { ok: false, error: thrownByTool(wrapped.error) };
      const own = responseStatus?.(outcome);
      const status = own === undefined ? toolOutcomeStatus(outcome, toolName) : own;
      if (status !== undefined || outcome.ok) return status;
      return defaultResponseStatus(outcome, signal?.aborted ?? false);
    };
  }
}

function names(filter: ToolFilter, toolName: string): boolean {
  if (typeof filter === 'function') return filter(toolName);
  // `search` and not `test`, which a pattern with the flag `g` answers differently every other time.
  return filter.some((entry) =>
    typeof entry === 'string' ? entry === toolName : toolName.search(entry) >= 0,
  );
}
