import { type AdapterOptions, refuseOptions, type WithoutOptions } from '@actlog/recorder/adapter';
import type { GenerateContentConfig, GoogleGenAI } from '@google/genai';
import { recordChat } from './chat-session.ts';
import { FunctionRun, isCallableTool } from './function-run.ts';
import { automaticCalls } from './google-genai-calls.ts';

/** A client of `@google/genai`: a `GoogleGenAI` of any version that the adapter works with. */
export interface GenAIClient {
  readonly models: {
    generateContent(params: never): Promise<unknown>;
    generateContentStream(params: never): Promise<AsyncGenerator<unknown>>;
  };
  readonly chats: { create(params: never): unknown };
}

/** Records and guards all calls that a client runs for the functions of its requests and chats. */
export function recordClient<Client extends GenAIClient>(
  client: Client & WithoutOptions,
  options: AdapterOptions = {},
): Client {
  refuseOptions(client, 'actlog(new GoogleGenAI({ apiKey }), { guard })');
  if (typeof client?.models?.generateContent !== 'function' || typeof client.chats?.create !== 'function') {
    throw new TypeError('actlog: pass a client, such as actlog(new GoogleGenAI({ apiKey })).');
  }
  const calls = automaticCalls(options);
  const { models, chats } = client as unknown as Pick<GoogleGenAI, 'models' | 'chats'>;
  const { generateContent, generateContentStream } = models;
  models.generateContent = async (params) =>
    runsFunctions(params?.config)
      ? generateContent(new FunctionRun(calls, params).params)
      : generateContent(params);
  models.generateContentStream = async (params) => {
    if (!runsFunctions(params?.config)) return generateContentStream(params);
    const run = new FunctionRun(calls, params);
    return run.watch(await generateContentStream(run.params));
  };
  const { create } = chats;
  chats.create = (params) => recordChat(create.call(chats, params));
  return client;
}

/** Returns `true` if the SDK runs the functions of a request itself. */
function runsFunctions({ tools, automaticFunctionCalling }: GenerateContentConfig = {}): boolean {
  const { disable, maximumRemoteCalls: limit } = automaticFunctionCalling ?? {};
  if (disable || (limit !== undefined && !(Number.isInteger(limit) && limit > 0))) return false;
  return tools?.some(isCallableTool) ?? false;
}
