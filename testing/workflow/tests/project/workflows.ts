import { WorkflowAgent } from '@ai-sdk/workflow';
import { stepCountIs, streamText, type ToolExecutionOptions } from 'ai';
import * as z from 'zod';
import { ScriptedModel, type Turns } from './model.ts';
import { recorder, tools } from './tools.ts';

interface Input {
  readonly id: string;
}
type Options = ToolExecutionOptions<Record<string, unknown>>;

async function read(input: Input, options: Options) {
  'use step';
  return tools.read.execute?.(input, options);
}

async function remove(input: Input, options: Options) {
  'use step';
  return tools.remove.execute?.(input, options);
}

async function send(input: Input, options: Options) {
  'use step';
  return tools.send.execute?.(input, options);
}

async function fail(input: Input, options: Options) {
  'use step';
  return tools.fail.execute?.(input, options);
}
fail.maxRetries = 1;

/** Delivers what earlier steps recorded in this process. */
async function deliver() {
  'use step';
  await recorder.flush();
}

async function runTurn(turns: Turns) {
  'use step';
  const result = streamText({
    model: new ScriptedModel(turns),
    prompt: 'Remove user u-1.',
    tools,
    stopWhen: stepCountIs(5),
  });
  return await result.text;
}

/** An agent whose model calls and tools are steps. Returns what the model has read. */
export async function agent(turns: Turns) {
  'use workflow';
  const inputSchema = z.object({ id: z.string() });
  const workflowAgent = new WorkflowAgent({
    model: new ScriptedModel(turns),
    tools: {
      read: { inputSchema, execute: read },
      remove: { inputSchema, execute: remove },
      send: { inputSchema, execute: send },
      fail: { inputSchema, execute: fail },
    },
  });
  const { steps } = await workflowAgent.stream({
    messages: [{ role: 'user', content: 'Remove user u-1.' }],
  });
  await deliver();
  return steps.at(-1)?.text;
}

/** A whole turn of the AI SDK in one step. Returns what the model has read. */
export async function turn(turns: Turns) {
  'use workflow';
  const text = await runTurn(turns);
  await deliver();
  return text;
}
