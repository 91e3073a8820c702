import { Service } from '@actlog/adapter-suite';
import { mcpToTool } from '@google/genai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Turn, withModel } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
let mcpClient: Client;
let mcpServer: McpServer;
const ran: string[] = [];

beforeAll(async () => {
  service = await Service.start();
  mcpServer = new McpServer({ name: 'orders', version: '1.0.0' });
  mcpServer.registerTool('read', { inputSchema: { id: z.string() } }, ({ id }) => {
    ran.push(id);
    return { content: [{ type: 'text', text: JSON.stringify({ iban: 'GB29NWBK60161331926819' }) }] };
  });
  mcpServer.registerTool('fail', {}, () => {
    throw new Error('it broke');
  });
  mcpClient = new Client({ name: 'tests', version: '1.0.0' });
  const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
  await mcpServer.connect(ofServer);
  await mcpClient.connect(ofClient);
});
afterAll(async () => {
  await mcpClient.close();
  await mcpServer.close();
  await service.close();
});

async function run(turn: Turn, options: Parameters<typeof actlog>[1]) {
  return withModel([turn], async (client, model) => {
    const config = { tools: [mcpToTool(mcpClient)] };
    await actlog(client, options).models.generateContent({ model: 'scripted', contents: 'go', config });
    return model.responses();
  });
}

test('records the calls of an MCP server with their statuses', async () => {
  const turn = [
    { name: 'read', args: { id: '1' } },
    { name: 'read', args: { id: 5 } },
    { name: 'fail', args: {} },
    { name: 'nowhere', args: {} },
  ];
  const responses = await run(turn, { recorder: service.recorder(), sessionId: 'mcp' });
  expect(responses).toHaveLength(3);
  expect(responses[0]).toMatchObject({ content: [{ type: 'text' }] });
  const lines = await service.callLines('mcp');
  expect(lines).toEqual(['tester read 200', 'tester read 400', 'tester fail 500', 'tester nowhere 404']);
});

test('does not run a denied call of an MCP server', async () => {
  ran.length = 0;
  const { policies } = service.client;
  const { id } = await service.denyTool('read');
  const options = { recorder: service.guarded(), sessionId: 'mcp-denied' };
  const responses = await run([{ name: 'read', args: { id: '1' } }], options);
  await policies.archive(id);
  expect(responses).toEqual([{ error: expect.stringMatching(/^The call of the tool "read" was not run/) }]);
  expect(ran).toEqual([]);
});

test("sees an MCP server's result as the origin of later arguments", async () => {
  const options = { recorder: service.recorder({ origins: true }), sessionId: 'mcp-origins' };
  const turn = [
    { name: 'read', args: { id: '1' } },
    { name: 'fail', args: { to: 'GB29NWBK60161331926819' } },
  ];
  await run(turn, options);
  const [reported] = await service.argumentOrigins('mcp-origins', 'fail');
  expect(reported?.origins.to).toMatchObject({ from: 'tool', as: 'field', toolName: 'read' });
});
