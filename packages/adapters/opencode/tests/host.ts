import { randomUUID } from 'node:crypto';
import type { Hooks } from '@opencode-ai/plugin';
import type { OpencodeClient } from '../src/actlog.ts';

/** A call of the model. */
export interface HostCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

/** A tool of the host. Throws an error with the text for the model if the arguments are invalid. */
export type HostTool = (args: Record<string, unknown>, signal: AbortSignal) => Promise<string>;

/** Result of a call, as the model sees it. */
export interface HostResult {
  readonly text: string;
  readonly isError: boolean;
}

/** Options of a session of the host. */
export interface HostSession {
  readonly id: string;
  readonly parentID?: string;
  readonly agent?: string;
  readonly system?: string;
}

/**
 * A host that calls the hooks of plugins in opencode's order, as its source and the program show it; the test
 * `program.slow.test.ts` runs the program itself.
 */
export class Host {
  readonly plugins: Hooks[] = [];
  readonly #tools: Readonly<Record<string, HostTool>>;
  readonly #sessions = new Map<string, HostSession & { readonly controller: AbortController }>();
  /** Messages that plugins wrote to the log. */
  readonly log: string[] = [];

  constructor(tools: Readonly<Record<string, HostTool>>) {
    this.#tools = tools;
  }

  /** Client of the host, as plugins get it. */
  get client(): OpencodeClient {
    const client = {
      app: {
        log: async ({ body }: { body: { service: string; message: string } }) => {
          this.log.push(body.message);
          console.warn(`[${body.service}] ${body.message}`);
        },
      },
      session: {
        get: async ({ path }: { path: { id: string } }) => ({ data: this.#sessions.get(path.id) }),
        abort: async ({ path }: { path: { id: string } }) => this.abort(path.id),
      },
    };
    return client as unknown as OpencodeClient;
  }

  /** Starts a session. `isQuiet` reports it to nobody, as if the plugin were loaded later. */
  start(session: HostSession, isQuiet = false): void {
    this.#sessions.set(session.id, { ...session, controller: new AbortController() });
    if (!isQuiet) this.emit('session.created', { info: session });
  }

  /** Aborts the run of a session, and those of its subagents. */
  abort(id: string): void {
    const found = [...this.#sessions.values()].filter((one) => one.id === id || one.parentID === id);
    for (const { id: sessionID, controller } of found) {
      if (controller.signal.aborted) continue;
      controller.abort();
      this.emit('session.error', { sessionID, error: { name: 'MessageAbortedError', data: {} } });
      this.emit('session.idle', { sessionID });
    }
  }

  /** Reports an event. The host does not wait for plugins. */
  emit(type: string, properties: object): void {
    for (const { event } of this.plugins) void event?.({ event: { type, properties } as never });
  }

  /** Gives a session a message of the user, after which the model makes calls, one inner list per turn. */
  async prompt(id: string, text: string, turns: readonly (readonly HostCall[])[]): Promise<HostResult[]> {
    const session = this.#sessions.get(id);
    if (!session) throw new Error(`There is no session ${id}.`);
    const { agent = 'build', system, controller } = session;
    const part = { type: 'text', text };
    const file = { type: 'text', text: 'The content of a file.', synthetic: true };
    await this.#trigger(
      'chat.message',
      { sessionID: id, agent },
      { message: { agent }, parts: [part, file] },
    );
    const results: HostResult[] = [];
    for (const calls of turns) {
      if (controller.signal.aborted) break;
      await this.#trigger(
        'experimental.chat.system.transform',
        { sessionID: id },
        { system: [system ?? ''] },
      );
      const running = calls.map((call) => this.#call(id, randomUUID(), call, controller.signal));
      results.push(...(await Promise.all(running)));
    }
    if (!controller.signal.aborted) this.emit('session.idle', { sessionID: id });
    return results;
  }

  async #call(sessionID: string, callID: string, call: HostCall, signal: AbortSignal): Promise<HostResult> {
    const run = this.#tools[call.tool];
    const error = `Model tried to call unavailable tool '${call.tool}'.`;
    const tool = run ? call.tool : 'invalid';
    const args = run ? structuredClone(call.args) : { tool: call.tool, error };
    const part = { type: 'tool', tool, callID, sessionID };
    try {
      await this.#trigger('tool.execute.before', { tool, sessionID, callID }, { args });
      const text = run ? await run(args, signal) : `The arguments provided to the tool are invalid: ${error}`;
      const output = { title: tool, output: text, metadata: {} };
      await this.#trigger('tool.execute.after', { tool, sessionID, callID, args }, output);
      this.emit('message.part.updated', { part: { ...part, state: { status: 'completed' } } });
      return { text: output.output, isError: false };
    } catch (thrown) {
      const { message } = thrown as Error;
      const text = signal.aborted ? 'Tool execution aborted' : message;
      this.emit('message.part.updated', { part: { ...part, state: { status: 'error', error: text } } });
      return { text: message, isError: true };
    }
  }

  async #trigger(name: keyof Hooks, input: object, output: object): Promise<void> {
    for (const plugin of this.plugins) {
      const hook = plugin[name] as ((input: object, output: object) => Promise<void>) | undefined;
      await hook?.(input, output);
    }
  }
}
