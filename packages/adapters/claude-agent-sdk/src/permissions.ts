import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';
import type { HookedCalls } from './hooked-calls.ts';

/**
 * Wraps the user's permission callback. If it allows a call with an input that has not been checked, the guard checks
 * that input; a call that the guard then denies is denied. A denial by the user is recorded at once, because it may end
 * the turn, unless the prompt was withdrawn, because its result is then ignored.
 */
export function withGuard(canUseTool: CanUseTool, calls: HookedCalls): CanUseTool {
  return async (toolName, input, options) => {
    const result = await canUseTool(toolName, input, options);
    if (result?.behavior === 'deny' && !options.signal.aborted) await calls.refuse(options);
    if (result?.behavior !== 'allow') return result;
    const message = await calls.change(options, result.updatedInput ?? input, options.signal);
    return message === undefined ? result : { behavior: 'deny', message };
  };
}
