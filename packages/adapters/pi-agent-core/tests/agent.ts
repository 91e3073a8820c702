import * as current from '@earendil-works/pi-agent-core';
import * as former from '@mariozechner/pi-agent-core';

/** Package of pi: the current one, or that with the former name. */
export type Pi = Pick<typeof current, 'Agent' | 'agentLoop'>;

/** The current package. */
export const pi: Pi = current;

/** The package with the former name. */
export const formerPi: Pi = former as unknown as Pi;

/** Options of an agent. */
export type AgentOptions = ConstructorParameters<typeof current.Agent>[0];

/** A tool of pi. */
export type Tool = current.AgentTool;

/** Calls of the scripted model: one inner list per turn. */
export type Turns = readonly (readonly { name: string; args: Record<string, unknown>; id?: string }[])[];

/** Creates a model that makes these calls and then says `done`. */
export function modelOf(turns: Turns): current.StreamFn {
  let turn = -1;
  return (_model, _context, { signal } = {}) => {
    turn += 1;
    const calls = (turns[turn] ?? []).map(({ name, args, id }, place) => ({
      type: 'toolCall' as const,
      id: id ?? `${turn}-${place}`,
      name,
      arguments: args,
    }));
    const stopReason = signal?.aborted ? 'aborted' : calls.length > 0 ? 'toolUse' : 'stop';
    const message = {
      role: 'assistant',
      content: calls.length > 0 ? calls : [{ type: 'text', text: 'done' }],
      api: 'scripted',
      provider: 'scripted',
      model: 'scripted',
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: {} },
      stopReason,
      ...(stopReason === 'aborted' && { errorMessage: 'Request was aborted' }),
      timestamp: 0,
    };
    const events = [stopReason === 'aborted' ? { type: 'error', error: message } : { type: 'done', message }];
    const stream = { [Symbol.asyncIterator]: () => events.values(), result: async () => message };
    return stream as unknown as ReturnType<current.StreamFn>;
  };
}

/** Creates a tool with a text as its only argument, `{ text: string }`. The pattern refuses numbers, which pi turns into texts. */
export function textTool(name: string, run: (text: string, signal?: AbortSignal) => unknown): Tool {
  return {
    name,
    label: name,
    description: `The tool ${name}.`,
    parameters: {
      type: 'object',
      properties: { text: { type: 'string', pattern: '\\D' } },
      required: ['text'],
    },
    execute: async (_id, params, signal) => ({
      content: [{ type: 'text', text: String(await run((params as { text: string }).text, signal)) }],
      details: {},
    }),
  };
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = textTool('echo', (text) => {
    ran.push(`echo ${text}`);
    return `echo: ${text}`;
  });
  const fail = textTool('fail', () => {
    ran.push('fail');
    throw Object.assign(new Error('it broke'), { status: 502 });
  });
  return { ran, echo, fail };
}

/** Returns the tool results among messages. */
export function toolResultsOf(messages: readonly current.AgentMessage[]) {
  return messages.flatMap((message) =>
    message.role === 'toolResult' ? [{ text: textOf(message), isError: message.isError }] : [],
  );
}

/** Returns the text of a message. */
export function textOf(message: current.AgentMessage | undefined): string {
  const { content } = (message ?? {}) as { content?: unknown };
  const parts = Array.isArray(content) ? (content as { text?: unknown }[]) : [{ text: content }];
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('');
}

/** Creates an agent that makes these calls. */
export function agentOf(turns: Turns, own: readonly Tool[], more: Partial<AgentOptions> = {}) {
  return new current.Agent({ initialState: { tools: [...own] }, streamFn: modelOf(turns), ...more });
}
