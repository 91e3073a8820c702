import {
  type BaseAgent,
  BaseLlm,
  type BaseLlmConnection,
  type BasePlugin,
  type Event,
  FunctionTool,
  InMemoryRunner,
  type LlmResponse,
  LogLevel,
  type RunConfig,
  setLogLevel,
} from '@google/adk';
import * as z from 'zod';

/** Responses of the scripted model, one per turn: tool calls, or a complete response. */
export type Turns = readonly (
  | readonly { name: string; args: Record<string, unknown>; id?: string }[]
  | LlmResponse
)[];

/** Creates a model that returns these responses and then says `done`. */
export function modelOf(turns: Turns): BaseLlm {
  return new ScriptedLlm(turns);
}

class ScriptedLlm extends BaseLlm {
  readonly #turns: Turns;
  #turn = 0;

  constructor(turns: Turns) {
    super({ model: 'scripted' });
    this.#turns = turns;
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    const turn = this.#turns[this.#turn];
    this.#turn += 1;
    if (!turn) yield { content: { role: 'model', parts: [{ text: 'done' }] } };
    else if ('length' in turn)
      yield { content: { role: 'model', parts: turn.map((functionCall) => ({ functionCall })) } };
    else yield turn as LlmResponse;
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error('The scripted model has no live connection.');
  }
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = new FunctionTool({
    name: 'echo',
    description: 'Says it again.',
    parameters: z.object({ text: z.string() }),
    execute: ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
  });
  const fail = new FunctionTool({
    name: 'fail',
    description: 'Breaks.',
    execute: (): string => {
      ran.push('fail');
      throw Object.assign(new Error('it broke'), { status: 502 });
    },
  });
  return { ran, echo, fail };
}

// Suppresses a log line per plugin.
setLogLevel(LogLevel.ERROR);

/** Options of a run beside its agent. */
export interface RunOptions {
  readonly sessionId?: string;
  readonly plugins?: BasePlugin[];
  readonly runConfig?: RunConfig;
  readonly abortSignal?: AbortSignal;
}

/** Runs an agent in a session of its own and returns the events of the run. */
export async function runAgent(agent: BaseAgent, options: RunOptions = {}, text = 'go'): Promise<Event[]> {
  return (await startSession(agent, options)).send({ text });
}

/** Starts a session of an agent, to which messages are sent. */
export async function startSession(agent: BaseAgent, { sessionId, plugins, ...rest }: RunOptions = {}) {
  const runner = new InMemoryRunner({ agent, appName: 'tests', ...(plugins && { plugins }) });
  const owner = { appName: 'tests', userId: 'user' };
  const session = await runner.sessionService.createSession({ ...owner, ...(sessionId && { sessionId }) });
  return {
    async send(...parts: object[]): Promise<Event[]> {
      const events: Event[] = [];
      const newMessage = { role: 'user', parts };
      const run = runner.runAsync({ userId: 'user', sessionId: session.id, newMessage, ...rest });
      for await (const event of run) events.push(event);
      return events;
    },
  };
}

/** Returns the tool results that the model received. */
export function toolResultsOf(events: readonly Event[]) {
  return events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionResponse }) => (functionResponse?.response ? [functionResponse.response] : []))
    .map(({ error, result }) => ({ text: String(error ?? result), isError: error !== undefined }));
}

/** Returns the text of the last event that has one. */
export function lastWords(events: readonly Event[]): string | undefined {
  return events.flatMap(({ content }) => content?.parts ?? []).findLast(({ text }) => text)?.text;
}
