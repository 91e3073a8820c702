import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A call of the model. */
export type ModelCall = readonly [tool: string, args: Record<string, unknown>];

/** Calls of the model by a word in the first message of the user: one inner list per turn. */
export type Scripts = Readonly<Record<string, readonly (readonly ModelCall[])[]>>;

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** A model on this machine with the API for chat completions. */
export class Model {
  /** Results of tools that the model was sent. */
  readonly toolResults = new Set<string>();
  readonly #server: Server;

  private constructor(scripts: Scripts) {
    this.#server = createServer(async (request, response) => {
      const { messages, tools } = (await json(request)) as { messages: Message[]; tools?: unknown[] };
      for (const { role, content } of messages) if (role === 'tool') this.toolResults.add(String(content));
      const asked = JSON.stringify(messages.find(({ role }) => role === 'user')?.content);
      const script = tools?.length
        ? Object.entries(scripts).find(([word]) => asked.includes(word))
        : undefined;
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const calls = (script?.[1][turn] ?? []).map(([name, args], index) => ({
        index,
        id: `call_${script?.[0]}_${turn}_${index}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      }));
      const delta = calls.length > 0 ? { tool_calls: calls } : { content: 'done' };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const finish = calls.length > 0 ? 'tool_calls' : 'stop';
      for (const choice of [
        { delta: { role: 'assistant', ...delta } },
        { delta: {}, finish_reason: finish },
      ]) {
        const chunk = { id: 'chunk', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] };
        response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      response.end('data: [DONE]\n\n');
    });
  }

  /** Starts a model. */
  static async start(scripts: Scripts): Promise<Model> {
    const model = new Model(scripts);
    model.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => model.#server.once('listening', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
