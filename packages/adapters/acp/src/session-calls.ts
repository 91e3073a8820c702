import type { ToolOutcome } from '@actlog/recorder';
import { abandonedCall, type BegunCall, type HookedCall, type TargetHooks } from '@actlog/recorder/adapter';
import { type ActlogOptions, argumentsOf, outcomeOf, toolNameOf, unfinished } from './acp-calls.ts';
import type { ToolCallUpdate } from './messages.ts';

/** Number of ended calls that are remembered, because agents may send updates after the end. */
const maxEnded = 1000;

/** A call that has not ended. */
interface OpenCall {
  /** All that the agent has said about the call. */
  update: ToolCallUpdate;
  /** Set once the guard has allowed the call. */
  begun?: BegunCall | undefined;
  /** `true` while the guard checks the call. */
  isChecked?: boolean;
}

/** The tool calls of one session. */
export class SessionCalls {
  readonly sessionId: string;
  readonly #hooks: TargetHooks<ActlogOptions>;
  readonly #open = new Map<string, OpenCall>();
  readonly #ended = new Set<string>();
  #turn = new AbortController();
  /** `true` while the agent repeats the history of a session, whose calls were recorded when they ran. */
  isLoading = false;

  constructor(sessionId: string, hooks: TargetHooks<ActlogOptions>) {
    this.sessionId = sessionId;
    this.#hooks = hooks;
  }

  /** Aborts when the user cancels the turn. */
  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  /** Adds what the agent says about a call, and records the call if it has ended. */
  update(update: ToolCallUpdate): void {
    const { toolCallId } = update;
    if (this.isLoading) this.#end(toolCallId);
    if (this.#ended.has(toolCallId)) return;
    const call = this.#merged(update);
    const outcome = outcomeOf(call.update);
    // A call that fails in a turn that was canceled was canceled.
    const isCanceled = outcome?.ok === false && this.#turn.signal.aborted;
    if (outcome && !call.isChecked) this.#record(call, isCanceled ? canceled() : outcome);
  }

  /**
   * Checks a call with the guard.
   *
   * @param signal - ends the wait for an approval
   * @throws ActionDeniedError when the guard denies the call
   */
  async check(update: ToolCallUpdate, signal: AbortSignal): Promise<void> {
    const { toolCallId } = update;
    const known = this.#open.get(toolCallId);
    const before = known && JSON.stringify(argumentsOf(known.update));
    const call = this.#merged(update);
    if (call.begun) {
      // An agent may repeat the request for one call; other arguments are another action.
      if (before === JSON.stringify(argumentsOf(call.update))) return;
      void call.begun.end({ ok: true, result: unfinished });
      call.begun = undefined;
    }
    call.isChecked = true;
    try {
      call.begun = await this.#hooks.begin(this.#hooked(call.update, signal));
    } catch (error) {
      this.#end(toolCallId); // the guard has recorded it
      throw error;
    } finally {
      call.isChecked = false;
    }
    // The agent did not wait for the permission.
    const outcome = outcomeOf(call.update);
    if (outcome) this.#record(call, outcome);
  }

  /** Ends a call that the user has rejected. */
  reject(toolCallId: string): void {
    const call = this.#open.get(toolCallId);
    const error = Object.assign(new Error('The user rejected the tool call.'), { status: 403 });
    if (call) this.#record(call, { ok: false, error });
  }

  /** Ends a call whose permission was canceled. */
  cancelCall(toolCallId: string): void {
    const call = this.#open.get(toolCallId);
    if (call) this.#record(call, canceled());
  }

  /** Cancels the turn: held calls never run. Calls that still run end as the agent says, or with the turn. */
  cancelTurn(): void {
    this.#turn.abort(abandonedCall('The turn was canceled.'));
  }

  /** Starts a turn. */
  startTurn(): void {
    if (this.#turn.signal.aborted) this.#turn = new AbortController();
  }

  /** Ends all calls that have no end yet. */
  endTurn(isCanceled: boolean): void {
    const outcome: ToolOutcome =
      isCanceled || this.#turn.signal.aborted ? canceled() : { ok: true, result: unfinished };
    for (const call of this.#open.values()) if (!call.isChecked) this.#record(call, outcome);
  }

  #merged(update: ToolCallUpdate): OpenCall {
    const known = this.#open.get(update.toolCallId);
    if (!known) {
      const call = { update };
      this.#open.set(update.toolCallId, call);
      return call;
    }
    const changes = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
    known.update = { ...known.update, ...Object.fromEntries(changes) };
    return known;
  }

  #hooked(update: ToolCallUpdate, signal?: AbortSignal): HookedCall {
    return {
      toolName: toolNameOf(update),
      arguments: argumentsOf(update),
      callId: `${this.sessionId}/${update.toolCallId}`,
      sessionId: this.sessionId,
      signal,
    };
  }

  #record({ update, begun }: OpenCall, outcome: ToolOutcome): void {
    this.#end(update.toolCallId);
    if (begun) {
      void begun.end(outcome);
      return;
    }
    const call = this.#hooked(update);
    for (const calls of this.#hooks.recordersOf(call.toolName)) calls.record(call, outcome);
  }

  #end(toolCallId: string): void {
    this.#open.delete(toolCallId);
    this.#ended.add(toolCallId);
    if (this.#ended.size > maxEnded) this.#ended.delete(this.#ended.values().next().value as string);
  }
}

function canceled(): ToolOutcome {
  return { ok: false, error: abandonedCall('The turn was canceled.') };
}
