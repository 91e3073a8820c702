import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { dynamicTool, z } from 'genkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ai, modelOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

async function statusesOf(sessionId: string, run: (path: string) => unknown) {
  const inputSchema = z.object({ path: z.string() });
  const read = dynamicTool({ name: 'read', description: 'Reads a file.', inputSchema }, async ({ path }) =>
    run(path),
  );
  await ai.generate({
    ...modelOf(refusedPaths.map((path) => [{ name: 'read', input: { path } }])),
    prompt: 'go',
    tools: [read],
    use: [actlog({ recorder: service.recorder(), sessionId })],
  });
  return (await service.events(sessionId)).map(({ status }) => status);
}

test('records error results of MCP servers with `rawToolResponses`', async () => {
  const statuses = await statusesOf('raw', (path) => mcpErrorResult(refusalOf(path)));
  expect(statuses).toEqual(refusedStatuses);
});

test('does not treat data with an error as a failure', async () => {
  expect(await statusesOf('data', (path) => ({ error: refusalOf(path) }))).toEqual([200, 200]);
});
