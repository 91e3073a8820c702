import { randomUUID } from 'node:crypto';
import Anthropic, { type ClientOptions } from '@anthropic-ai/sdk';

/** A block of a response, as Anthropic sends it. */
export interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Creates a call of a client tool. */
export function toolUse(name: string, input: unknown, id = `toolu_${randomUUID()}`): Block {
  return { type: 'tool_use', id, name, input };
}

/** Creates a tool call that Anthropic runs, and its result. */
export function webSearch(query: string, content: unknown, id = `srvtoolu_${randomUUID()}`): [Block, Block] {
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query } },
    { type: 'web_search_tool_result', tool_use_id: id, content },
  ];
}

interface SentMessage {
  readonly role: string;
  readonly content: string | readonly Block[];
}

/** Content of a request. */
export interface Sent {
  readonly messages: readonly SentMessage[];
  readonly stream?: boolean;
}

/** Creates a client of a service that returns these responses and then says `done`. */
export function clientOf(turns: readonly (readonly Block[])[], options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    init?.signal?.throwIfAborted();
    const body: Sent = JSON.parse(String(init?.body));
    const message = messageOf(turns[sent.length] ?? [{ type: 'text', text: 'done' }]);
    sent.push(body);
    return body.stream
      ? new Response(eventsOf(message), { headers: { 'content-type': 'text/event-stream' } })
      : Response.json(message);
  };
  return { client: new Anthropic({ apiKey: 'none', maxRetries: 0, ...options, fetch }), sent };
}

function messageOf(content: readonly Block[]) {
  const asks = content.some(({ type }) => type === 'tool_use');
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content,
    stop_reason: asks ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}

/** Converts a message to server-sent events, with inputs as text in two chunks. */
function eventsOf({ content, stop_reason, stop_sequence, ...message }: ReturnType<typeof messageOf>): string {
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: begunOf(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function begunOf(block: Block): Block {
  if (block.type === 'text') return { ...block, text: '' };
  return 'input' in block ? { ...block, input: {} } : block;
}

function deltasOf({ type, text, input }: Block) {
  if (type === 'text') return [{ type: 'text_delta', text }];
  if (input === undefined) return [];
  const json = JSON.stringify(input);
  const middle = json.length >> 1;
  return [json.slice(0, middle), json.slice(middle)].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }));
}

/** Returns the tool results that the model received, in order. */
export function toolResultsOf(sent: readonly Sent[]) {
  const results = sent
    .flatMap(({ messages }) => messages)
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result');
  const once = new Map(results.map((block) => [block.tool_use_id, block]));
  return [...once.values()].map(({ content, is_error }) => ({
    text: typeof content === 'string' ? content : JSON.stringify(content),
    isError: is_error === true,
  }));
}
