import { randomUUID } from 'node:crypto';
import { type RunItem, tool, Usage } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import * as z from 'zod';

/** Calls that the scripted model makes: one inner list a turn. Arguments may be a text that is no JSON. */
export type Turns = readonly (readonly { name: string; args: Record<string, unknown> | string }[])[];

/** A model that makes these calls and then says `done`. */
export function modelOf(turns: Turns): ScriptedModel {
  const steps = turns.map((calls, turn) =>
    calls.map(({ name, args }, place) => functionCall(name, args, { callId: `${turn}-${place}` })),
  );
  const last = { output: [assistantMessage('done')], usage: new Usage(), responseId: randomUUID() };
  return new ScriptedModel([...steps, last]);
}

/** Tools that note when they run: `echo` answers, `fail` throws. */
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

/** What the model was told by its tools. */
export function toolAnswers(items: readonly RunItem[]): string[] {
  return items
    .filter((item) => item.type === 'tool_call_output_item')
    .map(({ rawItem, output }) => {
      const told: unknown = rawItem.output;
      return String((told as { text?: unknown } | null)?.text ?? output);
    });
}
