import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import type { HookedCalls } from './hooked-calls.ts';

/**
 * The user's own answer to a permission prompt. Where that lets a call run, but with an input that the guard was not
 * asked about, the guard is asked about that one too; a call that it does not let run is denied. A refusal is recorded
 * at once, as it may be the end of the turn; it is not where the prompt was withdrawn, as nobody heeds the answer then.
 */
export function withGuard(canUseTool: CanUseTool, calls: HookedCalls): CanUseTool {
  return async (toolName, input, options) => {
    const answer = await canUseTool(toolName, input, options);
    if (answer?.behavior === 'deny' && !options.signal.aborted) await calls.refuse(options);
    if (answer?.behavior !== 'allow') return answer;
    const message = await calls.change(options, answer.updatedInput ?? input, options.signal);
    return message === undefined ? answer : { behavior: 'deny', message };
  };
}
