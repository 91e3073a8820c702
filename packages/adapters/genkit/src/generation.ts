import { randomUUID } from 'node:crypto';
import { type AdapterCalls, type HookedCall, noteTexts, processWidePerOwner } from '@actlog/recorder/adapter';
import type { GenerateMiddleware, ToolRequestPart } from 'genkit';
import { contentsOf } from './shown-texts.ts';

/** The Genkit instance passed to a middleware. */
export type Genkit = Parameters<GenerateMiddleware['instantiate']>[0]['ai'];

/** A turn of a generation, as known before its tool calls. */
export interface Turn {
  readonly messages: readonly unknown[];
  readonly signal: AbortSignal | undefined;
  /** `true` if the caller runs the tools. */
  readonly returnsToolRequests: boolean;
}

/** Ids of requests without one from the model, shared by all middlewares that see the same request. */
const ownCallId = processWidePerOwner<ToolRequestPart, string>('@actlog/genkit/call-ids', randomUUID);

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** One `generate` call, from its first turn to its last. */
export class Generation {
  readonly #ai: Genkit;
  readonly #calls: AdapterCalls;
  #turn: Turn | undefined;
  #sessionId: string | undefined;

  constructor(ai: Genkit, calls: AdapterCalls) {
    this.#ai = ai;
    this.#calls = calls;
  }

  /**
   * Runs a turn. When it fails, for example because a tool throws, Genkit lets the other tools continue; but a held one
   * must not run once the caller has the error.
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

  /** `true` if Genkit itself runs the tools. */
  get runsTools(): boolean {
    return !this.#turn?.returnsToolRequests;
  }

  /** Notes the texts of the turn's conversation for argument origins. */
  noteTexts(): void {
    noteTexts(this.#calls, () => {
      const messages = this.#turn?.messages ?? [];
      const user = contentsOf(messages, 'user');
      return { sessionId: this.#sessionId, user, system: contentsOf(messages, 'system') };
    });
  }

  /** Returns a call for the recorder. */
  hookedCall(part: ToolRequestPart): HookedCall {
    const { name: toolName, ref, input } = part.toolRequest;
    this.#calls.conversations.note(this.#turn?.messages, { toolName, callId: ref }, this.#sessionId);
    return {
      toolName,
      arguments: input,
      callId: ref ?? ownCallId(part),
      sessionId: this.#sessionId,
      signal: this.#turn?.signal,
    };
  }

  /** Returns the session of the caller's context, else of Genkit's own session, else of the conversation. */
  #findSession(messages: readonly unknown[]): string | undefined {
    return (
      text(this.#ai.currentContext()?.sessionId) ??
      this.#genkitSession() ??
      this.#calls.conversations.sessionOf(messages)
    );
  }

  #genkitSession(): string | undefined {
    try {
      const { id, sessionId } = this.#ai.currentSession() as { id?: unknown; sessionId?: unknown };
      return text(sessionId) ?? text(id);
    } catch {
      return undefined; // it throws if there is none
    }
  }
}
