import { randomUUID } from 'node:crypto';
import { conversationSession, type HookedCall, processWidePerOwner } from '@actlog/recorder/adapter';
import type { GenerateMiddleware, ToolRequestPart } from 'genkit';

/** What Genkit gives a middleware to reach the rest of itself. */
export type Genkit = Parameters<GenerateMiddleware['instantiate']>[0]['ai'];

/** What is known of a turn of a generation before its tool calls. */
export interface Turn {
  readonly messages: readonly unknown[];
  readonly signal: AbortSignal | undefined;
  /** The caller runs the tools. */
  readonly returnsToolRequests: boolean;
}

/** Ids of requests that the model gave none: two middlewares see the same request. */
const ownCallId = processWidePerOwner<ToolRequestPart, string>('@actlog/genkit/call-ids', randomUUID);

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** One `generate`, from its first turn to its last. */
export class Generation {
  readonly #ai: Genkit;
  #turn: Turn | undefined;
  #sessionId: string | undefined;

  constructor(ai: Genkit) {
    this.#ai = ai;
  }

  /**
   * Runs a turn. When it fails, as when one of its tools throws, Genkit lets the other tools run on; but one that is still
   * held must not run when nobody is there any more to hear of it.
   */
  async run<Result>(turn: Turn, run: () => Promise<Result>): Promise<Result> {
    const failure = new AbortController();
    const signal = turn.signal ? AbortSignal.any([turn.signal, failure.signal]) : failure.signal;
    this.#turn = { ...turn, signal };
    this.#sessionId ??= this.#findSession(turn.messages);
    try {
      return await run();
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  }

  /** Whether Genkit itself runs the tools that the model asks for. */
  get runsTools(): boolean {
    return !this.#turn?.returnsToolRequests;
  }

  /** A call as the recorder takes it. */
  hookedCall(part: ToolRequestPart): HookedCall {
    return {
      toolName: part.toolRequest.name,
      arguments: part.toolRequest.input,
      callId: part.toolRequest.ref ?? ownCallId(part),
      sessionId: this.#sessionId,
      signal: this.#turn?.signal,
    };
  }

  /** That of the context that the caller gave, else of Genkit's own session, else of the conversation. */
  #findSession(messages: readonly unknown[]): string | undefined {
    return (
      text(this.#ai.currentContext()?.sessionId) ?? this.#genkitSession() ?? conversationSession(messages)
    );
  }

  #genkitSession(): string | undefined {
    try {
      const { id, sessionId } = this.#ai.currentSession() as { id?: unknown; sessionId?: unknown };
      return text(sessionId) ?? text(id);
    } catch {
      return undefined; // it throws where there is none
    }
  }
}
