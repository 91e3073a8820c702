import { ActionDeniedError, hashArguments, type ToolOutcome } from '@actlog/recorder';
import type { AdapterCalls, HookedCall } from '@actlog/recorder/adapter';
import type {
  BaseHookInput,
  HookJSONOutput,
  PostToolBatchHookInput,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
  PreToolUseHookInput,
} from '@anthropic-ai/claude-agent-sdk';
import type { OpenCalls, PromptedCall } from './open-calls.ts';
import { failed, refused, unhooked } from './tool-outcome.ts';

/** A tool call, as every hook tells it. */
interface ToolUse {
  readonly tool_name: string;
  readonly tool_input: unknown;
  readonly tool_use_id: string;
}

/** What the hooks of a query do with its calls. */
export class HookedCalls {
  readonly #calls: AdapterCalls;
  readonly #open: OpenCalls;

  constructor(calls: AdapterCalls, open: OpenCalls) {
    this.#calls = calls;
    this.#open = open;
  }

  /**
   * Asks the guard about a call. What it lets through is left to the user's own permissions: an answer of `allow` would
   * pass by them.
   */
  async admit(input: PreToolUseHookInput, signal: AbortSignal): Promise<HookJSONOutput> {
    const call = hookedCall(input, input);
    if (!this.#calls.covers(call.toolName)) return {};
    try {
      const begun = await this.#calls.begin({ ...call, signal: this.#until(signal) });
      this.#open.note(input.tool_use_id, input, { call, begun });
      return {};
    } catch (error) {
      this.#open.note(input.tool_use_id, input);
      return denial(reasonOf(error));
    }
  }

  /**
   * Asks the guard anew about a call that was let through and is to run with another input. It is that call which is
   * recorded then.
   *
   * @returns why it may not run; undefined where it may
   */
  async change(prompted: PromptedCall, input: unknown, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#open.underWay(prompted);
    if (!known || (await hashArguments(input)) === (await hashArguments(known.call.arguments)))
      return undefined;
    const call = { ...known.call, arguments: input };
    try {
      await this.#open.replace(prompted, async () => ({
        call,
        begun: await this.#calls.begin({ ...call, signal: this.#until(signal) }),
      }));
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }

  /** Settles a call that the user has refused. */
  refuse(prompted: PromptedCall): Promise<void> {
    return this.#open.refuse(prompted);
  }

  succeeded(input: PostToolUseHookInput): Promise<void> {
    return this.#end(input, { ok: true, result: input.tool_response });
  }

  failed(input: PostToolUseFailureHookInput): Promise<void> {
    return this.#end(input, failed(input.error, input.is_interrupt));
  }

  /**
   * Settles what is left of a turn: calls that were let through and then refused by the user's permissions or another
   * hook, and calls that no hook was asked about, as of tools that are not there.
   */
  async reconcile(input: PostToolBatchHookInput): Promise<void> {
    for (const toolUse of input.tool_calls) {
      const isKnown = await this.#open.end(toolUse.tool_use_id, input, refused);
      this.#open.forget(toolUse.tool_use_id, input);
      if (!isKnown) this.#record(toolUse, input, unhooked(toolUse.tool_response));
    }
  }

  /** Settles what an interruption has left of a main thread, or of a subagent. */
  leave(place: BaseHookInput): Promise<void> {
    return this.#open.leave(place);
  }

  /** Aborts with a hook, and with the user's own signal. */
  #until(signal: AbortSignal): AbortSignal {
    return this.#open.signal ? AbortSignal.any([signal, this.#open.signal]) : signal;
  }

  async #end(input: ToolUse & BaseHookInput, outcome: ToolOutcome): Promise<void> {
    if (await this.#open.end(input.tool_use_id, input, outcome)) return;
    // It was let through by another process, whose session this one has taken over.
    this.#open.note(input.tool_use_id, input);
    this.#record(input, input, outcome);
  }

  #record(toolUse: ToolUse, place: BaseHookInput, outcome: ToolOutcome): void {
    const call = hookedCall(toolUse, place);
    if (this.#calls.covers(call.toolName)) this.#calls.record(call, outcome);
  }
}

function hookedCall(
  { tool_name, tool_input, tool_use_id }: ToolUse,
  { session_id, agent_type }: BaseHookInput,
): HookedCall {
  return {
    toolName: tool_name,
    arguments: tool_input,
    callId: tool_use_id,
    sessionId: session_id,
    agentId: agent_type,
  };
}

/** What the model is told of a call that the guard did not let run. */
function reasonOf(error: unknown): string {
  return ActionDeniedError.isInstance(error) ? error.message : 'The run was ended.';
}

function denial(reason: string): HookJSONOutput {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  };
}
