import { type AdapterCalls, noteTexts } from '@actlog/recorder/adapter';
import type { Options, UserPromptSubmitHookInput } from '@anthropic-ai/claude-agent-sdk';

/** Sources of prompts that a person or the program submits. Others come from tasks, timers and other agents. */
const sources: readonly unknown[] = ['user', 'sdk'];

/** Start of a prompt that Claude Code writes itself, for versions that do not report the source. */
const machineWritten =
  /^\s*<(task-notification|[a-z-]+-message|channel|event|system-reminder|local-command-[a-z]+|bash-[a-z]+)[ >]/;

/**
 * Notes a prompt of the user, and the system prompts of the options, for argument origins.
 *
 * @param system - from {@link systemTextsOf}
 */
export function notePrompt(
  calls: AdapterCalls,
  system: readonly unknown[],
  { session_id, agent_id, prompt, source }: UserPromptSubmitHookInput,
): void {
  const isOfUser = source === undefined ? !machineWritten.test(prompt) : sources.includes(source);
  const user = isOfUser && agent_id === undefined ? [prompt] : [];
  noteTexts(calls, () => ({ sessionId: session_id, user, system }));
}

/** Returns the system prompt of a query, as far as the options state it, and those of its subagents. */
export function systemTextsOf({ systemPrompt, agents = {} }: Options): readonly unknown[] {
  const own: { readonly append?: unknown; readonly prompt?: unknown } =
    typeof systemPrompt === 'string' || Array.isArray(systemPrompt)
      ? { prompt: systemPrompt }
      : (systemPrompt ?? {});
  return [own.prompt, own.append, ...Object.values(agents).map(({ prompt }) => prompt)];
}
