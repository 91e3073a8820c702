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
import { currentRun } from './runs/run-scope.ts';
import { runOf } from './runs/stray-run.ts';

/** Guardrails added to a tool. */
interface Hooks {
  readonly input: ReturnType<typeof inputGuardrail>;
  readonly output: ReturnType<typeof outputGuardrail>;
}

const hooked = processWide('@actlog/openai-agents/hooked', () => new WeakMap<object, Hooks>());

/** All hooks that were added. A copy of a tool, as created by `toolNamespace`, has the hooks of the original. */
const given = processWide('@actlog/openai-agents/given', () => new WeakSet<object>());

/**
 * Hooks a tool. It stays the same object, because the SDK and the user's hooks identify tools by reference; a frozen
 * tool is replaced by a copy.
 */
export function hookTool<T extends Tool>(own: T): T {
  currentRun()?.toolNames.add(own.name);
  const tool = Object.isFrozen(own) ? { ...own } : own;
  if (tool.type === 'function') hookFunction(tool as unknown as FunctionTool);
  if (tool.type === 'shell' && 'shell' in tool && tool.shell && !given().has(tool.shell)) {
    tool.shell = register(withActions(tool.shell, tool.name, ['run']));
  }
  if (tool.type === 'apply_patch' && !given().has(tool.editor)) {
    tool.editor = register(withActions(tool.editor, tool.name, ['createFile', 'updateFile', 'deleteFile']));
  }
  const search = getClientToolSearchExecutor(own);
  if (search && !given().has(search)) {
    attachClientToolSearchExecutor(
      tool as HostedTool,
      register(async (args) => hookFound(await search(args))),
    );
  }
  return tool;
}

/** Hooks the tools found by a client search before the SDK uses them. */
function hookFound(found: Tool | Tool[] | null | undefined): Tool | Tool[] | null | undefined {
  if (Array.isArray(found)) return found.map(hookTool);
  return found ? hookTool(found) : found;
}

/** Remembers an added hook. */
function register<Hook extends object>(hook: Hook): Hook {
  given().add(hook);
  return hook;
}

/**
 * Adds the guardrails: the input guardrail last, because only what the user's own guardrails allow is a call; the
 * output guardrail first.
 */
function hookFunction(tool: FunctionTool): void {
  let hooks = hooked().get(tool);
  if (!hooks) {
    hooks = { input: register(inputGuardrail(tool)), output: register(outputGuardrail(tool)) };
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

/** Custom timeout messages are detectable only through `timeoutErrorFunction`. */
function hookTimeout(tool: FunctionTool): void {
  const { timeoutErrorFunction } = tool;
  if (!timeoutErrorFunction || given().has(timeoutErrorFunction)) return;
  tool.timeoutErrorFunction = register((context, error, details) => {
    if (details?.toolCall) runOf(context).timedOut.add(details.toolCall.callId);
    return timeoutErrorFunction(context, error, details);
  });
}
