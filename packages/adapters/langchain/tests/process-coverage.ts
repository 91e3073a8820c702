import { AIMessage } from '@langchain/core/messages';
import { onTestFinished } from 'vitest';
import { type ActlogOptions, actlog } from '../src/index.ts';
import type { Turns } from './agent.ts';

/** Covers the process until the end of the test, or of the coverage. */
export function install(options: ActlogOptions): () => void {
  const stop = actlog.install(options);
  onTestFinished(stop);
  return stop;
}

/** A turn in which the model calls `echo` once. */
export const once: Turns = [[{ name: 'echo', args: { text: 'x' } }]];

/** Creates the message of a model with these calls, as the input of a `ToolNode`. */
export function message(...calls: { name: string; args: Record<string, unknown>; id: string }[]) {
  return new AIMessage({
    content: '',
    tool_calls: calls.map((call) => ({ ...call, type: 'tool_call' as const })),
  });
}
