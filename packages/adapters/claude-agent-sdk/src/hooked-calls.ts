import { ActionDeniedError, type ApprovedChange, hashArguments, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  endOfRunReason,
  type HookedCall,
  noteTexts,
  RunDenials,
} from '@actlog/recorder/adapter';
import type {
  BaseHookInput,
  HookJSONOutput,
  Options,
  PostToolBatchHookInput,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
  PreToolUseHookInput,
  UserPromptSubmitHookInput,
} from '@anthropic-ai/claude-agent-sdk';
import {
  type CallPlace,
  failed,
  type OpenCalls,
  type PromptedCall,
  refused,
  unhooked,
} from './open-calls.ts';

/** A tool call, as reported by every hook. */
interface ToolUse {
  readonly tool_name: string;
  readonly tool_input: unknown;
  readonly tool_use_id: string;
}

/** Handles the calls that the hooks of a query report. */
export class HookedCalls {
  readonly #calls: AdapterCalls;
  readonly #open: OpenCalls;
  readonly #denied = new DeniedRuns();

  readonly #systemTexts: readonly unknown[];

  /** @param systemTexts - system prompts of the query, for argument origins */
  constructor(calls: AdapterCalls, open: OpenCalls, systemTexts: readonly unknown[]) {
    this.#calls = calls;
    this.#open = open;
    this.#systemTexts = systemTexts;
  }

  /**
   * Checks a call. Leaves allowed calls to the user's permissions, which a hook result of `allow` would bypass.
   */
  async admit(input: PreToolUseHookInput, signal: AbortSignal): Promise<HookJSONOutput> {
    const call = hookedCall(input, input);
    if (!this.#calls.covers(call.toolName)) return {};
    try {
      const begun = await this.#calls.begin({ ...call, signal: this.#until(signal), acceptsChanges: true });
      const { change } = begun;
      const ran = change ? { ...call, arguments: change.arguments } : call;
      this.#open.note(input.tool_use_id, input, { call: ran, begun });
      this.#denied.find(input)?.letThrough(call.toolName);
      return change ? changedInput(change) : {};
    } catch (error) {
      this.#open.note(input.tool_use_id, input);
      const isRepeated = ActionDeniedError.isInstance(error) && this.#denied.of(input).count(call);
      return isRepeated ? { ...denial(error.message), ...endOfRun(error) } : denial(reasonOf(error));
    }
  }

  /**
   * Checks an allowed call again that will run with another input, and records that one instead.
   *
   * @returns the reason why it must not run; undefined if it may
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

  /** Ends a call that the user has denied. */
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
   * Ends the remaining calls of a turn: allowed calls that the user's permissions or another hook denied, and calls
   * without a hook, for example of unknown tools.
   */
  async reconcile(input: PostToolBatchHookInput): Promise<void> {
    for (const toolUse of input.tool_calls) {
      const isKnown = await this.#open.end(toolUse.tool_use_id, input, refused);
      this.#open.forget(toolUse.tool_use_id, input);
      if (!isKnown) this.#record(toolUse, input, unhooked(toolUse.tool_response));
    }
  }

  /** Ends the remaining calls of an interrupted turn, and remembers the prompt of the next. */
  prompted(input: UserPromptSubmitHookInput): Promise<void> {
    rememberPrompt(this.#calls, this.#systemTexts, input);
    return this.leave(input);
  }

  /** Ends the remaining calls of an interrupted main thread or subagent. */
  leave(place: BaseHookInput): Promise<void> {
    this.#denied.forget(place);
    return this.#open.leave(place);
  }

  /** Combines the hook's signal with the user's. */
  #until(signal: AbortSignal): AbortSignal {
    return this.#open.signal ? AbortSignal.any([signal, this.#open.signal]) : signal;
  }

  async #end(input: ToolUse & BaseHookInput, outcome: ToolOutcome): Promise<void> {
    if (await this.#open.end(input.tool_use_id, input, outcome)) return;
    // The call was allowed by another process, whose session this one has resumed.
    this.#open.note(input.tool_use_id, input);
    this.#record(input, input, outcome);
  }

  #record(toolUse: ToolUse, place: BaseHookInput, outcome: ToolOutcome): void {
    const call = hookedCall(toolUse, place);
    if (this.#calls.covers(call.toolName)) this.#calls.record(call, outcome);
  }
}

/**
 * Returns the call of a hook, as one of the query's agent also within a subagent: the subagent's type may be a word in a
 * file of the workspace, and would evade the policies, rates and the revocation of its agent. It is a fact beside the
 * agent.
 */
function hookedCall(
  { tool_name, tool_input, tool_use_id }: ToolUse,
  { session_id, agent_id, agent_type }: BaseHookInput,
): HookedCall {
  return {
    toolName: tool_name,
    arguments: tool_input,
    callId: tool_use_id,
    sessionId: session_id,
    // The main thread has a type too if the session was started as an agent.
    subagent: agent_id === undefined ? undefined : agent_type,
    // Claude Code passes on a refusal by an MCP server in the same way as a failure.
    mayBeRefused: true,
  };
}

/** Returns the output that makes Claude Code run a call with changed arguments, by the user's permissions. */
function changedInput({ arguments: args, notice }: ApprovedChange): HookJSONOutput {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      updatedInput: args as Record<string, unknown>,
      additionalContext: notice,
    },
  };
}

/** Returns the text for the model about a denied call. */
function reasonOf(error: unknown): string {
  return ActionDeniedError.isInstance(error) ? error.message : 'The run was ended.';
}

/** Ends the run, because Claude Code has no default limit on turns and would keep calling the model. */
function endOfRun(error: ActionDeniedError): HookJSONOutput {
  return { continue: false, stopReason: endOfRunReason(error) };
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

/** Maximum number of runs to remember, because their end is not always reported. */
const maxRuns = 1000;

/** Denials of the runs of a query: of each session's main thread, and of each of its subagents. */
class DeniedRuns {
  readonly #runs = new Map<string, RunDenials>();

  /** Returns the denials of a run; undefined if there were none. */
  find(place: CallPlace): RunDenials | undefined {
    return this.#runs.get(keyOf(place));
  }

  /** Returns the denials of a run, creating them if necessary. */
  of(place: CallPlace): RunDenials {
    const key = keyOf(place);
    const known = this.#runs.get(key);
    if (known) return known;
    const denials = new RunDenials();
    this.#runs.set(key, denials);
    if (this.#runs.size > maxRuns) this.#runs.delete(this.#runs.keys().next().value as string);
    return denials;
  }

  /** Forgets a run that has ended, or whose user has sent a new prompt. */
  forget(place: CallPlace): void {
    this.#runs.delete(keyOf(place));
  }
}

function keyOf({ session_id, agent_id = '' }: CallPlace): string {
  return `${session_id} ${agent_id}`;
}

/** Sources of prompts that a person or the program submits. Others come from tasks, timers and other agents. */
const sources: readonly unknown[] = ['user', 'sdk'];

/** Start of a prompt that Claude Code writes itself, for versions that do not report the source. */
const machineWritten =
  /^\s*<(task-notification|[a-z-]+-message|channel|event|system-reminder|local-command-[a-z]+|bash-[a-z]+)[ >]/;

/**
 * Remembers a prompt of the user, and the system prompts of the options, for argument origins.
 *
 * @param system - from {@link systemTextsOf}
 */
function rememberPrompt(
  calls: AdapterCalls,
  system: readonly unknown[],
  { session_id, agent_id, prompt, source }: UserPromptSubmitHookInput,
): void {
  const isOfUser = source === undefined ? !machineWritten.test(prompt) : sources.includes(source);
  const user = isOfUser && agent_id === undefined ? [prompt] : [];
  noteTexts(calls, () => ({ sessionId: session_id, user, system }));
}

/** Returns the system prompts of a query and its subagents, as far as the options state them. */
export function systemTextsOf({ systemPrompt, agents = {} }: Options): readonly unknown[] {
  const own: { readonly append?: unknown; readonly prompt?: unknown } =
    typeof systemPrompt === 'string' || Array.isArray(systemPrompt)
      ? { prompt: systemPrompt }
      : (systemPrompt ?? {});
  return [own.prompt, own.append, ...Object.values(agents).map(({ prompt }) => prompt)];
}
