import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import type { RunToolCallOutputItem } from '@openai/agents';
import { failure } from './agents-calls.ts';
import type { EndedCall, ModelItem } from './ended-call.ts';
import { hasThrown } from './guardrails.ts';
import type { RunScope } from './run-scope.ts';
import { isJson, nameOf, parsed } from './tool-call.ts';

/**
 * A call that ended without a hook having seen it: a person rejected it, a guardrail of the user's did, its tool is
 * not there or its arguments do not fit. And the calls that the SDK has no such hooks for. Undefined where it is none
 * of these, or has no answer yet.
 */
export function keptCall(
  item: ModelItem,
  answer: RunToolCallOutputItem | undefined,
  run: RunScope,
): EndedCall | undefined {
  if (!answer || ('callId' in item && run.seen.has(String(item.callId)))) return undefined;
  switch (item.type) {
    case 'function_call':
      return {
        toolName: nameOf(item),
        arguments: parsed(item.arguments),
        outcome: outcomeOfFunction(item, answer, run),
      };
    case 'computer_call':
      return {
        toolName: 'computer',
        arguments: item.actions ?? item.action,
        outcome: outcomeOfComputer(answer),
      };
    case 'shell_call':
      return {
        toolName: nameOfAction(answer, 'shell'),
        arguments: item.action,
        outcome: rejectedOrCut(answer),
      };
    case 'apply_patch_call':
      return {
        toolName: nameOfAction(answer, 'apply_patch'),
        arguments: item.operation,
        outcome: rejectedOrCut(answer),
      };
    default:
      return undefined;
  }
}

/** The name of the tool for commands or patches, which the user may have given. */
function nameOfAction({ agent }: RunToolCallOutputItem, type: 'shell' | 'apply_patch'): string {
  return agent.tools.find((tool) => tool.type === type)?.name ?? type;
}

function outcomeOfFunction(
  call: Extract<ModelItem, { type: 'function_call' }>,
  answer: RunToolCallOutputItem,
  run: RunScope,
): ToolOutcome {
  if (run.invalid.has(call.callId) || !isJson(call.arguments)) {
    return failure(responseStatuses.invalidArguments, 'The arguments do not fit the tool.');
  }
  if (answer.executionStatus === 'executed') {
    return hasThrown(String(answer.output))
      ? failure(responseStatuses.threw, String(answer.output))
      : { ok: true, result: answer.output };
  }
  if (!run.toolNames.has(call.name)) return failure(responseStatuses.unknownTool, 'There is no such tool.');
  return rejectedOrCut(answer);
}

function outcomeOfComputer(answer: RunToolCallOutputItem): ToolOutcome {
  const { output, providerData } = answer.rawItem as {
    output: { data?: unknown; providerData?: Record<string, unknown> };
    providerData?: Record<string, unknown>;
  };
  if (output.providerData?.approvalStatus === 'rejected') return rejectedOrCut(answer);
  if (providerData?.status === 'incomplete') {
    return failure(responseStatuses.aborted, 'The action was cut off.');
  }
  return output.data === ''
    ? failure(responseStatuses.threw, 'There is no screenshot.')
    : { ok: true, result: output };
}

function rejectedOrCut({ rawItem }: RunToolCallOutputItem): ToolOutcome {
  const { status } = rawItem as { status?: unknown };
  return status === 'incomplete'
    ? failure(responseStatuses.aborted, 'The call was cut off.')
    : failure(responseStatuses.denied, 'The call was not allowed to run.');
}
