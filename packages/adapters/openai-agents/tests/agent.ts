import { randomUUID } from 'node:crypto';
import { type RunItem, tool, Usage } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import * as z from 'zod';

/** Calls of the scripted model: one inner list per turn. Arguments may be a text that is not JSON. */
export type Turns = readonly (readonly { name: string; args: Record<string, unknown> | string }[])[];

/** Creates a model that makes these calls and then says `done`. */
export function modelOf(turns: Turns): ScriptedModel {
  const steps = turns.map((calls, turn) =>
    calls.map(({ name, args }, place) => functionCall(name, args, { callId: `${turn}-${place}` })),
  );
  const last = { output: [assistantMessage('done')], usage: new Usage(), responseId: randomUUID() };
  return new ScriptedModel([...steps, last]);
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = tool({
    name: 'echo',
    description: 'Says it again.',
    parameters: z.object({ text: z.string() }),
    execute: ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
  });
  const fail = tool({
    name: 'fail',
    description: 'Breaks.',
    parameters: z.object({}),
    execute: (): string => {
      ran.push('fail');
      throw Object.assign(new Error('it broke'), { status: 502 });
    },
  });
  return { ran, echo, fail };
}

/** Returns the tool results that the model received. */
export function toolResultsOf(items: readonly RunItem[]): string[] {
  return items
    .filter((item) => item.type === 'tool_call_output_item')
    .map(({ rawItem, output }) => {
      const told: unknown = rawItem.output;
      return String((told as { text?: unknown } | null)?.text ?? output);
    });
}
