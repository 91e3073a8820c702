import { Client as V2Client } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Generation } from './connections.ts';

/** Common part of the clients of both generations. */
export interface TestClient {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
  ping(): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: unknown[] }>;
  subscribeResource(params: { uri: string }): Promise<unknown>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>;
}

/** Options of a call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: {
    readonly progress: number;
    readonly message?: string | undefined;
  }) => void;
}

const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };

/** Creates a client that handles the requests of servers, and collects the resources that were updated. */
export function testClient(generation: Generation, name: string, updated: string[] = []): TestClient {
  const info = { name, version: '1.0.0' };
  const sampled = {
    role: 'assistant' as const,
    model: 'm',
    content: { type: 'text' as const, text: 'sampled text' },
  };
  const elicited = { action: 'accept' as const, content: { name: 'elicited name' } };
  const roots = { roots: [{ uri: 'file:///shared', name: 'shared folder' }] };
  if (generation === 'v1') {
    const client = new V1Client(info, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, () => sampled);
    client.setRequestHandler(ElicitRequestSchema, () => elicited);
    client.setRequestHandler(ListRootsRequestSchema, () => roots);
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updated.push(params.uri),
    );
    const call: TestClient['call'] = async (tool, args = {}, options) =>
      textOf(await client.callTool({ name: tool, arguments: args }, undefined, options ?? {}));
    return Object.assign(client, { call }) as unknown as TestClient;
  }
  const client = new V2Client(info, { capabilities });
  client.setRequestHandler('sampling/createMessage', () => sampled);
  client.setRequestHandler('elicitation/create', () => elicited);
  client.setRequestHandler('roots/list', () => roots);
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void updated.push(params.uri),
  );
  const call: TestClient['call'] = async (tool, args = {}, options) =>
    textOf(await client.callTool({ name: tool, arguments: args }, options ?? {}));
  return Object.assign(client, { call }) as unknown as TestClient;
}

function textOf(result: unknown): string {
  const { content } = result as { content: { type: string; text?: string }[] };
  return content.map(({ text }) => text ?? '').join('\n');
}
