import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';

/** A call of the scripted model; the text may not be JSON. */
export interface ModelCall {
  readonly name: string;
  readonly text: string;
}

/** One turn of the scripted model; items of the Responses API are sent unchanged. */
export interface Turn {
  readonly calls?: readonly ModelCall[];
  readonly items?: readonly object[];
}

/** Content of a request: messages of a chat, or input of the Responses API. */
export interface Sent {
  readonly messages?: readonly { readonly role: string; readonly content?: unknown }[];
  readonly input?: readonly { readonly type?: string; readonly output?: unknown }[];
  readonly instructions?: string;
  readonly stream?: boolean;
}

/** Returns the tool results that the model received in the last request. */
export function toolResultsOf(sent: readonly Sent[]): { text: string; isError: boolean }[] {
  const { messages = [], input = [] } = sent.at(-1) ?? {};
  const results = [
    ...messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
    ...input.filter(({ type }) => type?.endsWith('_output')).map(({ output }) => output),
  ];
  return results.map((text) => ({ text: String(text), isError: String(text).startsWith('Error') }));
}

/** Creates a client of a service that returns these turns, with either API, and then says `done`. */
export function clientOf(turns: readonly Turn[]) {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    init?.signal?.throwIfAborted();
    const body: Sent = JSON.parse(String(init?.body));
    const turn = turns[sent.length];
    sent.push(body);
    const isChat = String(url).includes('/chat/completions');
    if (!body.stream) return Response.json(isChat ? completionOf(turn) : responseOf(turn, body));
    const events = isChat ? chunksOf(completionOf(turn)) : eventsOf(responseOf(turn, body));
    return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { client: new OpenAI({ apiKey: 'none', maxRetries: 0, fetch }), sent };
}

function completionOf(turn: Turn | undefined) {
  const tool_calls = turn?.calls?.map(({ name, text }) => ({
    id: `call_${randomUUID()}`,
    type: 'function',
    function: { name, arguments: text },
  }));
  const message = tool_calls
    ? { role: 'assistant', content: null, refusal: null, tool_calls }
    : { role: 'assistant', content: 'done', refusal: null };
  const finish_reason = tool_calls ? 'tool_calls' : 'stop';
  const choices = [{ index: 0, message, finish_reason, logprobs: null }];
  return { id: randomUUID(), object: 'chat.completion', created: 1, model: 'scripted', choices };
}

/** Converts a completion to server-sent events, with arguments in two chunks. */
function chunksOf({ choices, ...completion }: ReturnType<typeof completionOf>): string {
  const [choice] = choices;
  const { tool_calls, ...message } = (choice?.message ?? {}) as {
    tool_calls?: { function: { arguments: string } }[];
  };
  const pieces = (tool_calls ?? []).flatMap((call, index) => {
    const { name, arguments: text } = call.function as { name: string; arguments: string };
    const middle = text.length >> 1;
    return [
      { tool_calls: [{ ...call, index, function: { name, arguments: text.slice(0, middle) } }] },
      { tool_calls: [{ index, function: { arguments: text.slice(middle) } }] },
    ];
  });
  const deltas: object[] = [message, ...pieces];
  const chunks = deltas.map((delta) => ({ index: 0, delta, finish_reason: null }));
  chunks.push({ index: 0, delta: {}, finish_reason: choice?.finish_reason as never });
  return chunks
    .map((chunk) => ({ ...completion, object: 'chat.completion.chunk', choices: [chunk] }))
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');
}

function responseOf(
  turn: Turn | undefined,
  { instructions = null }: { readonly instructions?: string | null },
) {
  const calls = (turn?.calls ?? []).map(({ name, text }) => ({
    type: 'function_call',
    id: `fc_${randomUUID()}`,
    call_id: `call_${randomUUID()}`,
    name,
    arguments: text,
    status: 'completed',
  }));
  const said = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'done', annotations: [] }],
  };
  const output = [...(turn?.items ?? []), ...calls, ...(calls.length > 0 ? [] : [said])];
  return {
    id: `resp_${randomUUID()}`,
    object: 'response',
    model: 'scripted',
    status: 'completed',
    instructions,
    output,
  };
}

/** Converts a response to server-sent events. */
function eventsOf(response: ReturnType<typeof responseOf>): string {
  const begun = { ...response, status: 'in_progress', output: [] };
  const events = [
    { type: 'response.created', sequence_number: 0, response: begun },
    { type: 'response.completed', sequence_number: 1, response },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
