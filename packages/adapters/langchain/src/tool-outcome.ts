import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { HookedCall } from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import { isCommand, isGraphBubbleUp, isParentCommand } from '@langchain/langgraph';
import { MiddlewareError, ToolInvocationError } from 'langchain';

/** How LangChain begins what it throws for arguments that do not fit a tool. */
const unfitInput = 'Received tool input did not match expected schema';

/** What a tool threw, out of the wrappers that middleware further in puts around it. */
export function thrownByTool(error: unknown): unknown {
  let thrown = error;
  while (MiddlewareError.isInstance(thrown)) thrown = thrown.cause;
  return thrown;
}

/** Whether what a tool threw is no failure, but interrupts its graph or leaves it. */
export function isInterruption(error: unknown): boolean {
  return typeof error === 'object' && error !== null && isGraphBubbleUp(error);
}

/**
 * The status of what LangChain made of a call: `null` for a graph that was interrupted inside the tool and will run it
 * again, `undefined` where the recorder's own table knows best.
 */
export function toolOutcomeStatus(
  outcome: ToolOutcome,
  { toolName, callId }: HookedCall,
): number | null | undefined {
  if (!outcome.ok) return statusOfError(outcome.error);
  const answer = isCommand(outcome.result) ? answerIn(outcome.result, callId) : outcome.result;
  if (!ToolMessage.isInstance(answer) || answer.status !== 'error') return undefined;
  // A ToolNode answers a call of a tool that it does not have, and names those that it has.
  return answer.text.startsWith(`Error: ${toolName} is not a valid tool`)
    ? responseStatuses.unknownTool
    : responseStatuses.threw;
}

/** The answer to a call, of a tool that puts it into the graph's state itself. */
function answerIn({ update }: { readonly update?: unknown }, callId: string | undefined): unknown {
  const { messages } = (update ?? {}) as { messages?: unknown };
  return [messages]
    .flat()
    .find((message) => ToolMessage.isInstance(message) && message.tool_call_id === callId);
}

function statusOfError(error: unknown): number | null | undefined {
  // A tool whose graph hands over to the one around it has done its work, and is not run again.
  if (isInterruption(error)) return isParentCommand(error) ? responseStatuses.ok : null;
  return isInvalidInput(error) ? responseStatuses.invalidArguments : undefined;
}

/** What a tool throws itself is known by its words: `require` loads another copy of its class than `import`. */
function isInvalidInput(error: unknown): boolean {
  const isOfTool = error instanceof Error && error.message.startsWith(unfitInput);
  return isOfTool || error instanceof ToolInvocationError;
}
