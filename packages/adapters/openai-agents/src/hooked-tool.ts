import { processWide } from '@actlog/recorder/adapter';
import {
  attachClientToolSearchExecutor,
  type FunctionTool,
  getClientToolSearchExecutor,
  type HostedTool,
  type Tool,
} from '@openai/agents';
import { withActions } from './actions.ts';
import { inputGuardrail, outputGuardrail } from './guardrails.ts';
import { currentRun } from './run-scope.ts';
import { runOf } from './stray-run.ts';

/** The guardrails that a tool was given. */
interface Hooks {
  readonly input: ReturnType<typeof inputGuardrail>;
  readonly output: ReturnType<typeof outputGuardrail>;
}

const hooked = processWide('@actlog/openai-agents/hooked', () => new WeakMap<object, Hooks>());

/** All that tools were given. A copy of a tool, as `toolNamespace` makes them, has what the tool was given. */
const given = processWide('@actlog/openai-agents/given', () => new WeakSet<object>());

/**
 * Hooks a tool where it can be hooked. It stays the same object, as the SDK and the user's hooks know tools by
 * identity; one that is frozen is replaced by a copy.
 */
export function hookTool<T extends Tool>(own: T): T {
  currentRun()?.toolNames.add(own.name);
  const tool = Object.isFrozen(own) ? { ...own } : own;
  if (tool.type === 'function') hookFunction(tool as unknown as FunctionTool);
  if (tool.type === 'shell' && 'shell' in tool && tool.shell && !given().has(tool.shell)) {
    tool.shell = give(withActions(tool.shell, tool.name, ['run']));
  }
  if (tool.type === 'apply_patch' && !given().has(tool.editor)) {
    tool.editor = give(withActions(tool.editor, tool.name, ['createFile', 'updateFile', 'deleteFile']));
  }
  const search = getClientToolSearchExecutor(own);
  if (search && !given().has(search)) {
    attachClientToolSearchExecutor(
      tool as HostedTool,
      give(async (args) => hookFound(await search(args))),
    );
  }
  return tool;
}

/** Hooks what a search of the client has found, before the SDK takes it. */
function hookFound(found: Tool | Tool[] | null | undefined): Tool | Tool[] | null | undefined {
  if (Array.isArray(found)) return found.map(hookTool);
  return found ? hookTool(found) : found;
}

/** Remembers what a tool is given. */
function give<Hook extends object>(hook: Hook): Hook {
  given().add(hook);
  return hook;
}

/** The input guardrail goes last, as only what the user's own let through is a call; the output guardrail first. */
function hookFunction(tool: FunctionTool): void {
  let hooks = hooked().get(tool);
  if (!hooks) {
    hooks = { input: give(inputGuardrail(tool)), output: give(outputGuardrail(tool)) };
    hooked().set(tool, hooks);
    hookTimeout(tool);
  }
  const { input, output } = hooks;
  const isOwn = (guardrail: object) => !given().has(guardrail);
  if (tool.inputGuardrails?.at(-1) !== input) {
    tool.inputGuardrails = [...(tool.inputGuardrails ?? []).filter(isOwn), input];
  }
  if (tool.outputGuardrails?.[0] !== output) {
    tool.outputGuardrails = [output, ...(tool.outputGuardrails ?? []).filter(isOwn)];
  }
}

/** A timeout that the user words is known by nothing but that the wording is asked for. */
function hookTimeout(tool: FunctionTool): void {
  const { timeoutErrorFunction } = tool;
  if (!timeoutErrorFunction || given().has(timeoutErrorFunction)) return;
  tool.timeoutErrorFunction = give((context, error, details) => {
    if (details?.toolCall) runOf(context).timedOut.add(details.toolCall.callId);
    return timeoutErrorFunction(context, error, details);
  });
}
