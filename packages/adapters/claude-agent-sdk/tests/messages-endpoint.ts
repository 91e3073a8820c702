import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A tool call of the model. */
export interface ModelCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** Calls of the model: one inner list per turn. */
export type Turns = readonly (readonly ModelCall[])[];

/** A tool result that the model received. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly Block[];
  readonly is_error?: boolean;
}

interface Request {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

/** Start of a subagent's prompt. */
export const subagentPrompt = 'For the subagent:';

/** A Messages API on a loopback port, whose model makes scripted calls and then says `done`. */
export class MessagesEndpoint {
  readonly url: string;
  readonly #server: ReturnType<typeof createServer>;
  #last: Request | undefined;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /**
   * Starts the endpoint.
   *
   * @param subagentTurns - calls of the model in subagents, whose prompts start with {@link subagentPrompt}
   */
  static async start(turns: Turns, subagentTurns: Turns = []): Promise<MessagesEndpoint> {
    let endpoint: MessagesEndpoint | undefined;
    const server = createServer(async (request, response) => {
      const body = await readBody(request);
      if (!request.url?.startsWith('/v1/messages?')) return void response.writeHead(404).end('{}');
      const asked = JSON.parse(body) as Request;
      const isSubagent = JSON.stringify(asked.messages[0]).includes(subagentPrompt);
      if (endpoint && !isSubagent) endpoint.#last = asked;
      const turn = asked.messages.filter(({ role }) => role === 'assistant').length;
      const calls = (isSubagent ? subagentTurns : turns)[turn] ?? [];
      respond(response, asked.model, calls, `${isSubagent ? 'sub' : 'main'}_${turn}`);
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    endpoint = new MessagesEndpoint(server);
    return endpoint;
  }

  /**
   * Returns the tool results that the model received by its last turn, without Claude Code's additions for the model.
   */
  toolResults(): ToolResult[] {
    const blocks = (this.#last?.messages ?? []).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content,
    );
    return blocks
      .filter(({ type }) => type === 'tool_result')
      .map(({ content, is_error }) => ({ text: textOf(content), isError: is_error ?? false }));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

function textOf(content: Block['content'] = ''): string {
  const texts = typeof content === 'string' ? [content] : content.map(({ text = '' }) => text);
  return texts
    .map((text) => text.replace(/\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/, ''))
    .join('')
    .trimEnd();
}

function respond(response: ServerResponse, model: string, calls: readonly ModelCall[], turn: string): void {
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model, content: [], usage };
  const blocks = calls.map(({ name, input }, place) => ({
    content_block: { type: 'tool_use', id: `toolu_${turn}_${place}`, name, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  }));
  const words = { content_block: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'done' } };
  const events = [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    ...(calls.length > 0 ? blocks : [words]).flatMap(({ content_block, delta }, index) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  response.setHeader('content-type', 'text/event-stream');
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
