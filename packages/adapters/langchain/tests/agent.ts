import { randomUUID } from 'node:crypto';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { StructuredTool } from '@langchain/core/tools';
import { tool } from 'langchain';
import * as z from 'zod';

/** Calls of the scripted model: one inner list per turn. */
export type Turns = readonly (readonly { name: string; args: Record<string, unknown>; id?: string }[])[];

/** Creates a model that makes these calls and then says `done`. */
export function modelOf(turns: Turns) {
  const model = fakeModel();
  for (const calls of turns) model.respondWithTools([...calls]);
  return model.respond(new AIMessage('done'));
}

/** Does the same for agents with shared messages: LangChain's model numbers its messages, so those of two are equal. */
export function sharedModelOf(turns: Turns) {
  const model = fakeModel();
  for (const calls of turns) {
    const tool_calls = calls.map((call) => ({ id: randomUUID(), ...call, type: 'tool_call' as const }));
    model.respond(new AIMessage({ content: '', tool_calls }));
  }
  return model.respond(new AIMessage('done'));
}

/** Creates a tool that runs an agent, like the tools of a supervisor and the `task` of a deep agent. */
export function askingTool(run: () => Promise<{ messages: BaseMessage[] }>, name = 'ask') {
  return tool(async () => (await run()).messages.map(({ text }) => text).join('\n'), {
    name,
    description: 'Asks the inner agent.',
    schema: z.object({}),
  });
}

/** Creates a model for several turns of a chat: it makes these calls, and says `done` after each list. */
export function chatModelOf(turns: Turns) {
  const model = fakeModel();
  for (const calls of turns) model.respondWithTools([...calls]).respond(new AIMessage('done'));
  return model;
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = tool(
    ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
    { name: 'echo', description: 'Says it again.', schema: z.object({ text: z.string() }) },
  );
  const fail = tool(
    (): string => {
      ran.push('fail');
      throw Object.assign(new Error('it broke'), { status: 502 });
    },
    { name: 'fail', description: 'Breaks.', schema: z.object({}) },
  );
  return { ran, echo, fail };
}

/** A tool with its own class, which notes when it runs and ignores the signal. */
export class Heedless extends StructuredTool {
  override readonly name = 'heedless';
  override readonly description = 'Runs in any case.';
  override readonly schema = z.object({});
  ran = 0;

  protected override async _call(): Promise<string> {
    this.ran += 1;
    return 'ran';
  }
}

/** Returns the tool results that the model received, without the stack traces that LangChain adds to some. */
export function toolResultsOf(result: { messages: BaseMessage[] }) {
  return result.messages
    .filter((message) => ToolMessage.isInstance(message))
    .map((message) => ({
      text: message.text.replaceAll(/^ +at .*\n/gm, ''),
      status: message.status ?? 'success',
    }));
}

/** Input of an agent with a user message. */
export const question = { messages: [{ role: 'user' as const, content: 'go' }] };

/** Returns the configuration of a thread. */
export function inThread(thread_id: string) {
  return { configurable: { thread_id } };
}
