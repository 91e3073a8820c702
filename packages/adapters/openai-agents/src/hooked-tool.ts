import { processWide } from '@actlog/recorder/adapter';
import type { FunctionTool, Tool } from '@openai/agents';
import { withActions } from './actions.ts';
import { inputGuardrail, outputGuardrail } from './guardrails.ts';
import { currentRun } from './run-scope.ts';

/** What a tool was given. */
interface Hooks {
  readonly input: ReturnType<typeof inputGuardrail>;
  readonly output: ReturnType<typeof outputGuardrail>;
}

const hooked = processWide('@actlog/openai-agents/hooked', () => new WeakMap<object, Hooks | true>());

/**
 * Hooks a tool where it can be hooked. It stays the same object, as the SDK and the user's hooks know tools by
 * identity; one that is frozen is replaced by a copy.
 */
export function hookTool<T extends Tool>(given: T): T {
  const tool = Object.isFrozen(given) ? { ...given } : given;
  if (tool.type === 'function') hookFunction(tool as unknown as FunctionTool);
  if (tool.type === 'shell' && 'shell' in tool && tool.shell && isNew(tool)) {
    tool.shell = withActions(tool.shell, tool.name, ['run']);
  }
  if (tool.type === 'apply_patch' && isNew(tool)) {
    tool.editor = withActions(tool.editor, tool.name, ['createFile', 'updateFile', 'deleteFile']);
  }
  return tool;
}

function isNew(tool: object): boolean {
  const wasHooked = hooked().has(tool);
  if (!wasHooked) hooked().set(tool, true);
  return !wasHooked;
}

/** The input guardrail goes last, as only what the user's own let through is a call; the output guardrail first. */
function hookFunction(tool: FunctionTool): void {
  let hooks = hooked().get(tool);
  if (hooks === undefined || hooks === true) {
    hooks = { input: inputGuardrail(tool), output: outputGuardrail(tool) };
    hooked().set(tool, hooks);
    hookTimeout(tool);
  }
  const { input, output } = hooks;
  if (tool.inputGuardrails?.at(-1) !== input) {
    tool.inputGuardrails = [...(tool.inputGuardrails ?? []).filter((own) => own !== input), input];
  }
  if (tool.outputGuardrails?.[0] !== output) {
    tool.outputGuardrails = [output, ...(tool.outputGuardrails ?? []).filter((own) => own !== output)];
  }
}

/** A timeout that the user words is known by nothing but that the wording is asked for. */
function hookTimeout(tool: FunctionTool): void {
  const { timeoutErrorFunction } = tool;
  if (!timeoutErrorFunction) return;
  tool.timeoutErrorFunction = (context, error, details) => {
    if (details?.toolCall) currentRun()?.timedOut.add(details.toolCall.callId);
    return timeoutErrorFunction(context, error, details);
  };
}
