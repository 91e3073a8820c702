import { Service } from '@actlog/adapter-suite';
import { Agent, Swarm } from '@strands-agents/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { modelOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.client.policies.create({
    name: 'no results, no failures',
    effect: 'deny',
    match: { tools: ['strands_structured_output', 'fail'] },
  });
});
afterAll(() => service.close());

const output = { name: 'strands_structured_output', args: { city: 'Oslo' } };
const structuredOutputSchema = z.object({ city: z.string() });
const fail = { name: 'fail', args: {} };

test('does not record or guard structured output', async () => {
  const agent = new Agent({
    model: modelOf([[output]]),
    interventions: [actlog({ recorder: service.guarded(), sessionId: 'structured' })],
    structuredOutputSchema,
    printer: false,
  });
  const { structuredOutput } = await agent.invoke('go');
  expect(structuredOutput).toEqual({ city: 'Oslo' });
  expect(await service.events('structured')).toEqual([]);
});

test('does not record or guard the handoff of a swarm', async () => {
  const node = (id: string, args: Record<string, unknown>) =>
    new Agent({
      id,
      model: modelOf([[{ name: output.name, args }]]),
      interventions: [actlog({ recorder: service.guarded(), sessionId: 'swarm' })],
      printer: false,
    });
  const nodes = [node('first', { agentId: 'second', message: 'yours' }), node('second', { message: 'done' })];
  const { status, results } = await new Swarm({ nodes, maxSteps: 5 }).invoke('go');
  expect(status).toBe('COMPLETED');
  expect(results.map(({ nodeId }) => nodeId)).toEqual(['first', 'second']);
  expect(await service.events('swarm')).toEqual([]);
});

test('ends the run with an error if included structured output is always denied', async () => {
  const include = [/./, output.name];
  const agent = new Agent({
    model: modelOf(Array.from({ length: 20 }, () => [output])),
    interventions: [actlog({ recorder: service.guarded(), sessionId: 'included', include })],
    structuredOutputSchema,
    printer: false,
  });
  await expect(agent.invoke('go')).rejects.toThrow('structured output');
  expect(await service.events('included')).toHaveLength(5);
});

test("reports a run ended by denials, and resets for the agent's next run", async () => {
  const agent = new Agent({
    model: modelOf(Array.from({ length: 8 }, () => [fail])),
    tools: [tools().fail],
    interventions: [actlog({ recorder: service.guarded(), sessionId: 'anew' })],
    printer: false,
  });
  const { stopReason, lastMessage } = await agent.invoke('go');
  expect(stopReason).toBe('endTurn');
  expect(JSON.stringify(lastMessage)).toContain('The run was ended because the model repeated the call.');
  expect(await service.events('anew')).toHaveLength(5);
  expect(JSON.stringify((await agent.invoke('go on')).lastMessage)).toContain('done');
  expect(await service.events('anew')).toHaveLength(8);
});

test('ends the run of an agent whose model repeats an agent that is always denied', async () => {
  const interventions = [actlog({ recorder: service.guarded(), sessionId: 'nested' })];
  const repeated = (call: { name: string; args: Record<string, unknown> }) =>
    modelOf(Array.from({ length: 500 }, () => [call]));
  const deep = new Agent({ name: 'deep', model: repeated(fail), tools: [tools().fail], printer: false });
  const ask = (name: string) => ({ name, args: { input: 'go' } });
  const inner = new Agent({ name: 'inner', model: repeated(ask('deep')), tools: [deep], printer: false });
  const outer = new Agent({ model: repeated(ask('inner')), tools: [inner], interventions, printer: false });
  const { lastMessage } = await outer.invoke('go');
  expect(JSON.stringify(lastMessage)).toContain('The run was ended because the model repeated the call.');
  const denied = (await service.events('nested')).filter(({ toolName }) => toolName === 'fail');
  expect(denied).toHaveLength(125);
});
