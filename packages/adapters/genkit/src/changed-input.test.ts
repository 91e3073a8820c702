import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { generateMiddleware } from 'genkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ai, modelOf, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

test('behind middleware that changes inputs, the guard checks the arguments that the tool gets', async () => {
  await service.client.policies.create({
    name: 'no b',
    effect: 'deny',
    match: { tools: ['echo'] },
    condition: 'args.text == "b"',
  });
  const own = tools();
  const change = generateMiddleware({ name: 'change' }, () => ({
    tool: ({ toolRequest }, context, next) =>
      next({ toolRequest: { ...toolRequest, input: { text: 'b' } } }, context),
  }));
  const recorder = service.guarded({ showArguments: (args) => args as Record<string, unknown> });
  const response = await ai.generate({
    ...modelOf([[{ name: 'echo', input: { text: 'a' } }]]),
    prompt: 'go',
    tools: [own.echo],
    use: [change(), actlog({ recorder, sessionId: 'changed' })],
  });
  expect(own.ran).toEqual([]);
  expect(toolResultsOf(response)).toMatchObject([{ isError: true }]);
  const [event, ...more] = await service.storedEvents('changed');
  expect(event?.payload).toMatchObject({
    argumentsHash: await hashArguments({ text: 'b' }),
    responseStatus: 403,
  });
  expect(more).toEqual([]);
});
