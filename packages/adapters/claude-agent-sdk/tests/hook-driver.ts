import { randomUUID } from 'node:crypto';
import type { HookEvent, HookInput, HookJSONOutput, Options } from '@anthropic-ai/claude-agent-sdk';

/** A call as reported to hooks. */
export interface DrivenCall {
  readonly name: string;
  readonly input: unknown;
  readonly id: string;
}

/** Calls the hooks of options like Claude Code, for cases in which the real one would take long. */
export class HookDriver {
  readonly sessionId = randomUUID();
  readonly #options: Options;
  readonly #agent: { readonly agent_id?: string; readonly agent_type?: string };

  /** @param agent - subagent that calls; default: the main thread */
  constructor(options: Options, agent: { readonly agent_id?: string; readonly agent_type?: string } = {}) {
    this.#options = options;
    this.#agent = agent;
  }

  /** Returns the hooks of a subagent in the same session. */
  subagent(agent_id: string): HookDriver {
    const driver = new HookDriver(this.#options, { agent_id, agent_type: 'explorer' });
    return Object.assign(driver, { sessionId: this.sessionId });
  }

  before(call: DrivenCall, signal?: AbortSignal): Promise<HookJSONOutput> {
    return this.#tell('PreToolUse', toolUse(call), signal);
  }

  succeeded(call: DrivenCall, tool_response: unknown): Promise<HookJSONOutput> {
    return this.#tell('PostToolUse', { ...toolUse(call), tool_response });
  }

  failed(call: DrivenCall, error: string, is_interrupt = false): Promise<HookJSONOutput> {
    return this.#tell('PostToolUseFailure', { ...toolUse(call), error, is_interrupt });
  }

  /** Reports the end of a turn. */
  batch(...calls: readonly (DrivenCall & { readonly response: unknown })[]): Promise<HookJSONOutput> {
    const tool_calls = calls.map(({ response, ...call }) => ({ ...toolUse(call), tool_response: response }));
    return this.#tell('PostToolBatch', { tool_calls });
  }

  prompted(facts: object = {}): Promise<HookJSONOutput> {
    return this.#tell('UserPromptSubmit', { prompt: 'Go on.', ...facts });
  }

  stopped(): Promise<HookJSONOutput> {
    return this.#tell('SubagentStop', { stop_hook_active: false });
  }

  /** All hooks are called at once; the first non-empty result counts here. */
  async #tell(
    event: HookEvent,
    facts: object,
    signal = new AbortController().signal,
  ): Promise<HookJSONOutput> {
    const input = {
      session_id: this.sessionId,
      transcript_path: '/dev/null',
      cwd: '/',
      ...this.#agent,
      hook_event_name: event,
      ...facts,
    } as unknown as HookInput;
    const callbacks = this.#options.hooks?.[event]?.flatMap(({ hooks }) => hooks) ?? [];
    const outputs = await Promise.all(callbacks.map((callback) => callback(input, undefined, { signal })));
    return outputs.find((output) => Object.keys(output).length > 0) ?? {};
  }
}

function toolUse({ name, input, id }: DrivenCall) {
  return { tool_name: name, tool_input: input, tool_use_id: id };
}
