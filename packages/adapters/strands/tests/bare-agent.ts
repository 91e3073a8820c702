import { Agent } from '@strands-agents/sdk';
import { onTestFinished } from 'vitest';
import { type ActlogOptions, actlog } from '../src/index.ts';
import { modelOf, type Turns, tools } from './agent.ts';

/** Call of the tool that returns its text. */
export const echo = { name: 'echo', args: { text: 'x' } };

/** Call of the tool that throws, which the tests deny by policy. */
export const fail = { name: 'fail', args: {} };

/** Covers the process until the end of the test, or of the coverage. */
export function install(options: ActlogOptions): () => void {
  const stop = actlog.install(options);
  onTestFinished(stop);
  return stop;
}

/** Creates an agent, by default without an intervention. */
export function agentOf(id: string, turns: Turns, more: ConstructorParameters<typeof Agent>[0] = {}) {
  const { ran, ...own } = tools();
  const agent = new Agent({
    id,
    name: id,
    description: `The agent ${id}.`,
    model: modelOf(turns),
    tools: [own.echo, own.fail],
    printer: false,
    ...more,
  });
  return { agent, ran };
}
