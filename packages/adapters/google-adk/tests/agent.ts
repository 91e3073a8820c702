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

/** Answers that the scripted model gives, one a turn: calls of tools, or a response as it is. */
export type Turns = readonly (
  | readonly { name: string; args: Record<string, unknown>; id?: string }[]
  | LlmResponse
)[];

/** A model that gives these answers and then says `done`. */
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

/** Tools that note when they run: `echo` answers, `fail` throws. */
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

// It tells of every plugin that it is given.
setLogLevel(LogLevel.ERROR);

/** What a run is given besides its agent. */
export interface RunOptions {
  readonly sessionId?: string;
  readonly plugins?: BasePlugin[];
  readonly runConfig?: RunConfig;
  readonly abortSignal?: AbortSignal;
}

/** Runs an agent in a session of its own, and gives the events of the run. */
export async function runAgent(agent: BaseAgent, options: RunOptions = {}): Promise<Event[]> {
  return (await startSession(agent, options)).send({ text: 'go' });
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

/** What the model was told by its tools. */
export function toolAnswers(events: readonly Event[]) {
  return events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionResponse }) => (functionResponse?.response ? [functionResponse.response] : []))
    .map(({ error, result }) => ({ text: String(error ?? result), isError: error !== undefined }));
}

/** The words of the last event that has some. */
export function lastWords(events: readonly Event[]): string | undefined {
  return events.flatMap(({ content }) => content?.parts ?? []).findLast(({ text }) => text)?.text;
}
