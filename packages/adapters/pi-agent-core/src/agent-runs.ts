import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActionDeniedError } from '@actlog/recorder';
import {
  type AdapterCalls,
  chatTexts,
  currentSessionId,
  DeniedRun,
  type HookedCall,
  noteTexts,
  processWide,
} from '@actlog/recorder/adapter';

/** A covered run of an agent, from `prompt()` or `continue()` to its end. */
export class AgentRun {
  readonly agent: PiAgent;
  readonly calls: AdapterCalls;
  readonly denied: DeniedRun = new DeniedRun();
  readonly #arguments = new Map<string, unknown>();
  readonly #ran = new Set<string>();
  readonly #invalid = new WeakSet<object>();
  #sessionId: string | undefined;

  constructor(agent: PiAgent, calls: AdapterCalls) {
    this.agent = agent;
    this.calls = calls;
  }

  /**
   * Session of the run's calls: from the call whose tool runs the agent, the agent, the surrounding `session.run`, or
   * the conversation.
   */
  get sessionId(): string | undefined {
    this.#sessionId ??=
      (this.calls.currentCall() && currentSessionId()) ||
      this.agent.sessionId ||
      this.calls.conversations.sessionOf(this.agent.state.messages);
    return this.#sessionId;
  }

  /** Remembers the arguments of a call that begins. */
  rememberArguments(callId: string, args: unknown): void {
    this.#arguments.set(callId, args);
  }

  /** Remembers that a call has reached its tool, which records it. */
  rememberRan(callId: string): void {
    this.#ran.add(callId);
  }

  /** Remembers arguments that the tool's `prepareArguments` refused. */
  rememberInvalid(args: unknown): void {
    if (typeof args === 'object' && args !== null) this.#invalid.add(args);
  }

  /** Forgets a call that has ended, and returns what is known of it. */
  end(callId: string): {
    readonly arguments: unknown;
    readonly hasRun: boolean;
    readonly isInvalid: boolean;
  } {
    const args = this.#arguments.get(callId);
    this.#arguments.delete(callId);
    const isInvalid = typeof args === 'object' && args !== null && this.#invalid.has(args);
    return { arguments: args, hasRun: this.#ran.delete(callId), isInvalid };
  }
}

/** Converts a call of a run to one for the recorder. */
export function hookedCall(run: AgentRun, call: HookedCall & { readonly callId: string }): HookedCall {
  const { agent, calls, sessionId } = run;
  const { messages, systemPrompt } = agent.state;
  noteTexts(calls, () => ({ sessionId, user: chatTexts(messages).user, system: [systemPrompt] }));
  calls.conversations.note(messages, call, sessionId);
  return { ...call, sessionId, signal: call.signal ?? agent.signal };
}

/** Place of the running code: in a run of an agent, or in a tool. */
interface Place {
  /** Covered run; undefined if the agent is not covered, and in a loop without an agent. */
  readonly run: AgentRun | undefined;
  /** Recorder of the tool's call; undefined outside of tools. */
  readonly calls?: AdapterCalls | undefined;
  readonly outer?: Place | undefined;
}

const places = processWide('@actlog/pi-agent-core/places', () => new AsyncLocalStorage<Place>());

/** Runs code in a place. */
export function within<Result>(place: Omit<Place, 'outer'>, run: () => Result): Result {
  return places().run({ ...place, outer: places().getStore() }, run);
}

/** Returns the covered run that the code is part of. */
export function currentRun(): AgentRun | undefined {
  return places().getStore()?.run;
}

/** Returns the recorder of the call whose tool is running. */
export function callsAround(): AdapterCalls | undefined {
  return places().getStore()?.calls;
}

/**
 * Counts a denial in a run, which ends before its next turn if the model repeats itself. The end of a run is a denial
 * for the run whose tool it works for, because its model might keep starting that agent.
 */
export function countDenial(run: AgentRun, call: HookedCall, denial: ActionDeniedError): void {
  if (!run.denied.deny(call, denial)) return;
  for (let place = places().getStore(); place; place = place.outer) {
    if (place.calls && place.run && !place.run.denied.deny(call, denial)) return;
  }
}

/** A tool of pi, in all of its versions and under both names of its package. */
export interface PiTool {
  readonly name: string;
  readonly execute: (
    toolCallId: string,
    params: never,
    signal?: AbortSignal,
    onUpdate?: never,
  ) => Promise<unknown>;
}

/** The part of pi's `Agent` that the adapter uses, in all of its versions and under both names of its package. */
export interface PiAgent {
  readonly state: {
    readonly tools: readonly PiTool[];
    readonly messages: readonly unknown[];
    readonly systemPrompt: string;
    readonly isStreaming: boolean;
  };
  /** Session that the application gave the agent. */
  readonly sessionId?: string | undefined;
  /** Signal of the current run. */
  readonly signal: AbortSignal | undefined;
  prompt(input: never): Promise<void>;
  continue(): Promise<void>;
  subscribe(listener: (event: { readonly type: string }) => void): () => void;
}

/** The events of an agent that the adapter hears. */
export type PiEvent =
  | { readonly type: 'turn_start' }
  | {
      readonly type: 'tool_execution_start';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly args: unknown;
    }
  | {
      readonly type: 'tool_execution_end';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly result: unknown;
      readonly isError: boolean;
      /** Time for which the tool ran; missing in older versions, and if it did not run. */
      readonly durationMs?: number;
    };

/** Returns `true` for an agent of pi. */
export function isPiAgent(value: unknown): value is PiAgent {
  const { state, prompt, subscribe } = (value ?? {}) as Partial<PiAgent>;
  return Array.isArray(state?.tools) && typeof prompt === 'function' && typeof subscribe === 'function';
}
