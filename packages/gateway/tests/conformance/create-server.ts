import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { clientTools } from './client-tools.ts';
import { contentTools } from './content-tools.ts';
import { prompts } from './prompts.ts';
import { readResource, resources, resourceTemplate } from './resources.ts';
import { streamTools } from './stream-tools.ts';

const tools = [...contentTools, ...streamTools, ...clientTools];

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  logging: {},
  completions: {},
};

/** Creates a server for one session, with all that the scenarios of the conformance suite use. */
export function createConformanceServer(): Server {
  const server = new Server({ name: 'conformance', version: '1.0.0' }, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, context) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return tool.run(params.arguments ?? {}, context);
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [...resources] }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [resourceTemplate],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readResource(params.uri));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: prompts.map(({ messages: _, ...prompt }) => prompt),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = prompts.find(({ name }) => name === params.name);
    if (!prompt) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${params.name}.`);
    return { messages: prompt.messages(params.arguments ?? {}) };
  });
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => ({
    completion: { values: [`${params.argument.value}ed`], hasMore: false },
  }));
  return server;
}
