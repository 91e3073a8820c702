import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { RunToolCallOutputItem } from '@openai/agents';
import { failure } from './agents-calls.ts';
import type { EndedCall, ModelItem } from './ended-call.ts';
import { hasThrown } from './guardrails.ts';
import type { RunScope } from './runs/run-scope.ts';
import { isJson, nameOf, parsed } from './tool-call.ts';

/**
 * Reconstructs a call that ended without a hook: rejected by a person or by a user's guardrail, of an unknown tool, or
 * with invalid arguments; and calls for which the SDK has no hooks. Returns undefined for other items, and if there is
 * no output yet.
 */
export function keptCall(
  item: ModelItem,
  output: RunToolCallOutputItem | undefined,
  run: RunScope,
): EndedCall | undefined {
  if (!output || ('callId' in item && run.seen.has(String(item.callId)))) return undefined;
  switch (item.type) {
    case 'function_call':
      return {
        toolName: nameOf(item),
        arguments: parsed(item.arguments),
        outcome: outcomeOfFunction(item, output, run),
      };
    case 'computer_call':
      return {
        toolName: 'computer',
        arguments: item.actions ?? item.action,
        outcome: outcomeOfComputer(output),
      };
    case 'shell_call':
      return {
        toolName: nameOfAction(output, 'shell'),
        arguments: item.action,
        outcome: rejectedOrInterrupted(output),
      };
    case 'apply_patch_call':
      return {
        toolName: nameOfAction(output, 'apply_patch'),
        arguments: item.operation,
        outcome: rejectedOrInterrupted(output),
      };
    default:
      return undefined;
  }
}

/** Returns the name of the tool for commands or patches, which the user may have chosen. */
function nameOfAction({ agent }: RunToolCallOutputItem, type: 'shell' | 'apply_patch'): string {
  return agent.tools.find((tool) => tool.type === type)?.name ?? type;
}

function outcomeOfFunction(
  call: Extract<ModelItem, { type: 'function_call' }>,
  output: RunToolCallOutputItem,
  run: RunScope,
): ToolOutcome {
  if (run.invalid.has(call.callId) || !isJson(call.arguments)) {
    return failure(responseStatuses.invalidArguments, 'The arguments do not fit the tool.');
  }
  if (output.executionStatus === 'executed') {
    return hasThrown(String(output.output))
      ? failure(responseStatuses.threw, String(output.output))
      : { ok: true, result: output.output };
  }
  if (!run.toolNames.has(call.name)) return failure(responseStatuses.unknownTool, 'Unknown tool.');
  return rejectedOrInterrupted(output);
}

function outcomeOfComputer(item: RunToolCallOutputItem): ToolOutcome {
  const { output, providerData } = item.rawItem as {
    output: { data?: unknown; providerData?: Record<string, unknown> };
    providerData?: Record<string, unknown>;
  };
  if (output.providerData?.approvalStatus === 'rejected') return rejectedOrInterrupted(item);
  if (providerData?.status === 'incomplete') {
    return failure(responseStatuses.aborted, 'The action was interrupted.');
  }
  return output.data === ''
    ? failure(responseStatuses.threw, 'There is no screenshot.')
    : { ok: true, result: output };
}

function rejectedOrInterrupted({ rawItem }: RunToolCallOutputItem): ToolOutcome {
  const { status } = rawItem as { status?: unknown };
  return status === 'incomplete'
    ? failure(responseStatuses.aborted, 'The call was interrupted.')
    : failure(responseStatuses.denied, 'The call was not allowed to run.');
}
