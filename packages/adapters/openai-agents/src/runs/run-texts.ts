import { chatTexts, noteTexts, type ShownTexts } from '@actlog/recorder/adapter';
import { RunResult, RunState } from '@openai/agents';
import type { NamedAgent, RunScope } from './run-scope.ts';

/** Returns the texts in the input of a run: a text, messages, or the state of an interrupted run. */
function inputTexts(input: unknown): Pick<ShownTexts, 'user' | 'system'> {
  if (typeof input === 'string') return { user: [input] };
  if (input instanceof RunState) return inputTexts(new RunResult(input).input);
  return chatTexts(input);
}

/** Passes what the user wrote to the recorder of an agent's calls, for the origins of arguments. */
export function noteInput(run: RunScope, agent: NamedAgent): Promise<void> {
  return noteRunTexts(run, agent, () => inputTexts(run.input));
}

/**
 * Passes texts to the recorder of an agent's calls, for the origins of arguments.
 *
 * @param read - reads the texts, only if they are used
 */
export async function noteRunTexts(
  run: RunScope,
  agent: NamedAgent,
  read: () => Pick<ShownTexts, 'user' | 'system'>,
): Promise<void> {
  const calls = run.callsOf(agent);
  if (!calls?.tracesOrigins) return;
  const sessionId = await run.sessionId();
  noteTexts(calls, () => ({ sessionId, ...read() }));
}
