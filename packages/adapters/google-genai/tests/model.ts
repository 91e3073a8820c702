import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CallableTool, type FunctionCall, GoogleGenAI, type Part } from '@google/genai';

/** Function calls of one turn of the scripted model. */
export type Turn = readonly FunctionCall[];

/** Body of a request to the model. */
export interface Sent {
  readonly contents: readonly { readonly role?: string; readonly parts?: readonly Part[] }[];
  readonly systemInstruction?: { readonly parts?: readonly Part[] };
}

/** A server in place of the Gemini API, whose model makes these calls, one list per turn, and then says `done`. */
export class ScriptedModel {
  /** Requests so far, oldest first. */
  readonly sent: Sent[] = [];
  readonly #server;

  private constructor(turns: readonly Turn[]) {
    this.#server = createServer(async (request, response) => {
      const turn = turns[this.sent.length] ?? [];
      this.sent.push(JSON.parse(await text(request)));
      const parts = turn.length > 0 ? turn.map((functionCall) => ({ functionCall })) : [{ text: 'done' }];
      const body = JSON.stringify({
        candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      });
      const isStreamed = request.url?.includes(':streamGenerateContent');
      response.setHeader('content-type', isStreamed ? 'text/event-stream' : 'application/json');
      response.end(isStreamed ? `data: ${body}\n\n` : body);
    });
  }

  static async start(turns: readonly Turn[]): Promise<ScriptedModel> {
    const model = new ScriptedModel(turns);
    model.#server.listen(0, '127.0.0.1');
    await new Promise((resolve) => model.#server.once('listening', resolve));
    return model;
  }

  /** Creates a client of this server. */
  client(): GoogleGenAI {
    const { port } = this.#server.address() as AddressInfo;
    return new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `http://127.0.0.1:${port}` } });
  }

  /** Returns the function responses that the model received in the last request. */
  responses(): Record<string, unknown>[] {
    const parts = this.sent.at(-1)?.contents.flatMap((content) => content.parts ?? []) ?? [];
    return parts.flatMap(({ functionResponse: { response } = {} }) => (response ? [response] : []));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Runs a check with a client of a scripted model. */
export async function withModel<Result>(
  turns: readonly Turn[],
  check: (client: GoogleGenAI, model: ScriptedModel) => Promise<Result>,
): Promise<Result> {
  const model = await ScriptedModel.start(turns);
  try {
    return await check(model.client(), model);
  } finally {
    await model.close();
  }
}

/** Creates a tool of these functions. */
export function toolOf(functions: Readonly<Record<string, (args: never) => unknown>>): CallableTool {
  return {
    tool: async () => ({ functionDeclarations: Object.keys(functions).map((name) => ({ name })) }),
    async callTool(calls) {
      const parts: Part[] = [];
      for (const { name = '', args } of calls) {
        const run = functions[name] as ((args: unknown) => unknown) | undefined;
        if (run) parts.push({ functionResponse: { name, response: { output: await run(args) } } });
      }
      return parts;
    },
  };
}
