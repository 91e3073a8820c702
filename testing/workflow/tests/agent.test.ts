import { Service } from '@actlog/adapter-suite';
import { actlog } from '@actlog/ai-sdk';
import { WorkflowAgent } from '@ai-sdk/workflow';
import { tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { ScriptedModel } from './project/model.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('remove', 'Users stay.');
  await service.holdTool('send');
});
afterAll(() => service.close());

test('records, denies and holds the calls of a WorkflowAgent outside of a workflow', async () => {
  const ran: string[] = [];
  const toolNamed = (name: string) =>
    tool({
      inputSchema: z.object({ id: z.string() }),
      execute: async ({ id }) => {
        ran.push(`${name} ${id}`);
        return `${name}: done`;
      },
    });
  const agent = new WorkflowAgent({
    model: new ScriptedModel([['read', 'remove'], ['send']]),
    tools: actlog(
      { read: toolNamed('read'), remove: toolNamed('remove'), send: toolNamed('send') },
      { recorder: service.guarded(), sessionId: 'ticket-7' },
    ),
  });
  const run = agent.stream({ messages: [{ role: 'user', content: 'Remove user u-1.' }] });
  await service.decide('ticket-7', 'approve');
  const { steps } = await run;
  expect(steps.at(-1)?.text).toContain('Users stay.');
  expect(ran).toEqual(['read u-1', 'send u-1']);
  const lines = await service.callLines('ticket-7');
  expect(lines.sort()).toEqual(['tester read 200', 'tester remove 403', 'tester send 200']);
});
