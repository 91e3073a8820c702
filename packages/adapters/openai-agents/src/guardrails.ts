import { ActionDeniedError, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { parseExactJson } from '@actlog/recorder/adapter';
import {
  type FunctionTool,
  getCurrentSpan,
  RunState,
  type ToolGuardrailFunctionOutput,
  type ToolInputGuardrailDefinition,
  type ToolOutputGuardrailDefinition,
} from '@openai/agents';
import { failure } from './agents-calls.ts';
import { currentRun, type RunScope, rememberInput, runOf } from './runs/run-scope.ts';

type InputData = Parameters<ToolInputGuardrailDefinition['run']>[0];

const allow: ToolGuardrailFunctionOutput = { behavior: { type: 'allow' } };

/** Text with which the SDK reports a tool's error to the model, if the tool has no `errorFunction`. */
const thrownText = 'An error occurred while running the tool. Please try again.';

/** Creates the guardrail that allows or denies the calls of a tool. */
export function inputGuardrail(tool: FunctionTool): ToolInputGuardrailDefinition {
  return {
    type: 'tool_input',
    name: 'actlog',
    run: (data) => {
      const run = runOf(data.context);
      // A realtime session has no further hook before the tool runs, so the tool's actions become part of the call
      // here.
      if (run !== currentRun()) run.enter(data.toolCall.callId);
      return admit(run, tool, data);
    },
  };
}

/** Creates the guardrail that records the outcome of a tool's calls. */
export function outputGuardrail(tool: FunctionTool): ToolOutputGuardrailDefinition {
  return {
    type: 'tool_output',
    name: 'actlog',
    run: async ({ context, toolCall, output }) => {
      const run = runOf(context);
      await run.end(toolCall.callId, outcomeOf(run, tool, toolCall.callId, output));
      return allow;
    },
  };
}

/** Derives the outcome of a call from the SDK's text. */
export function outcomeOf(run: RunScope, tool: FunctionTool, callId: string, output: unknown): ToolOutcome {
  const text = typeof output === 'string' ? output : '';
  if (run.timedOut.has(callId) || (tool.timeoutMs && text.includes(`timed out after ${tool.timeoutMs}ms`))) {
    return failure(responseStatuses.timedOut, text);
  }
  const ofServer = run.mcpFailures.get(callId);
  if (ofServer) return ofServer;
  return getCurrentSpan()?.error || hasThrown(text)
    ? { ok: false, error: new Error(text) }
    : { ok: true, result: output };
}

/** Returns `true` for the text with which the SDK reports a tool's error. */
export function hasThrown(text: string): boolean {
  return text.startsWith(thrownText);
}

async function admit(
  run: RunScope,
  tool: FunctionTool,
  { agent, toolCall }: InputData,
): Promise<ToolGuardrailFunctionOutput> {
  const calls = run.callsOf(agent);
  const toolName = nameOf(toolCall);
  const { callId } = toolCall;
  if (!calls?.covers(toolName)) return allow;
  if (toolCall.arguments === '' && tool.parameters) {
    // The arguments are invalid, so the tool will not run; the model's original text is among the run's items.
    run.invalid.add(callId);
    return allow;
  }
  run.seen.add(callId);
  if (!run.hasSession) await run.sessionId();
  if (run.input instanceof RunState) await rememberInput(run, agent); // such a run starts with its tools
  const call = run.call(agent, { toolName, arguments: parsed(toolCall.arguments), callId });
  try {
    run.begin(callId, await calls.begin(call));
    return allow;
  } catch (error) {
    if (!ActionDeniedError.isInstance(error)) throw error;
    run.denied.add(callId);
    return { behavior: { type: 'rejectContent', message: error.message } };
  }
}

/** Properties of a function call that form its name. */
export interface NamedCall {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/**
 * Returns the name of a tool as the model sees it, with its namespace if it has one. For a tool loaded by a search, the
 * namespace repeats the name, which counts as none.
 */
export function nameOf({ name, namespace }: NamedCall): string {
  return namespace && namespace !== name ? `${namespace}.${name}` : name;
}

/** Parses arguments; returns a string that is not JSON unchanged. */
export function parsed(input: string): unknown {
  try {
    return parseExactJson(input);
  } catch {
    return input;
  }
}

/** Returns `true` if a string is JSON. */
export function isJson(input: string): boolean {
  return parsed(input) !== input;
}
