import { randomUUID } from 'node:crypto';
import {
  currentSessionId,
  type HookedCall,
  newSessionId,
  noteTexts,
  processWidePerOwner,
} from '@actlog/recorder/adapter';
import type { GenerateMiddleware, ToolRequestPart } from 'genkit';
import { type Coverage, coverages } from './coverage.ts';

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
  readonly #coverage: Coverage;
  #turn: Turn | undefined;
  #failure = new AbortController();
  #sessionId: string | undefined;

  constructor(ai: Genkit, coverage: Coverage) {
    this.#ai = ai;
    this.#coverage = coverage;
  }

  /** Runs a turn. */
  async run<Result>(turn: Turn, run: () => Promise<Result>): Promise<Result> {
    this.begin(turn);
    try {
      return await this.within(run);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Begins a turn. */
  begin(turn: Turn): void {
    this.#failure = new AbortController();
    const { signal } = this.#failure;
    this.#turn = { ...turn, signal: turn.signal ? AbortSignal.any([turn.signal, signal]) : signal };
    this.#sessionId ??= this.#findSession(turn.messages);
  }

  /**
   * Ends a failed turn, for example if a tool threw. Genkit lets the other tools continue, but a held one must not run
   * once the caller has the error.
   */
  fail(error: unknown): void {
    this.#failure.abort(error);
  }

  /** `true` if a turn has begun. */
  get hasTurn(): boolean {
    return this.#turn !== undefined;
  }

  /** `true` if Genkit itself runs the tools. */
  get runsTools(): boolean {
    return !this.#turn?.returnsToolRequests;
  }

  /** Runs code of the generation, such as its tools, so that generations in it are covered too. */
  within<Result>(run: () => Result): Result {
    return coverages().surrounding.run(this.#coverage, run);
  }

  /** Remembers the conversation of the turn for argument origins. */
  noteTexts(): void {
    noteTexts(this.#coverage.calls, () => {
      const messages = this.#turn?.messages ?? [];
      const user = contentsOf(messages, 'user');
      return { sessionId: this.#sessionId, user, system: contentsOf(messages, 'system') };
    });
  }

  /** Returns a call for the recorder. */
  hookedCall(part: ToolRequestPart): HookedCall {
    const { name: toolName, ref, input } = part.toolRequest;
    const { conversations } = this.#coverage.calls;
    conversations.note(this.#turn?.messages, { toolName, callId: ref }, this.#sessionId);
    return {
      toolName,
      arguments: input,
      callId: ref ?? ownCallId(part),
      sessionId: this.#sessionId,
      signal: this.#turn?.signal,
    };
  }

  /**
   * Returns the session of the caller's context, of the call that the generation works for, of Genkit, or of the
   * conversation, in this order.
   */
  #findSession(messages: readonly unknown[]): string | undefined {
    const own = currentSession(this.#ai);
    // An agent that a tool calls has its own session in Genkit, but belongs to the chat of the tool.
    const ofCall = this.#coverage.calls.currentCall() && currentSessionId();
    return (
      text(this.#ai.currentContext()?.sessionId) ??
      ofCall ??
      text(own?.sessionId) ??
      text(own?.id) ??
      this.#coverage.calls.conversations.sessionOf(messages) ??
      newSessionId() // only instructions, such as a prompt has
    );
  }
}

interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

interface Part {
  readonly metadata?: { readonly purpose?: unknown } | null;
}

/** Returns the parts of an author's messages, without those with which Genkit adds documents that it has found. */
function contentsOf(messages: readonly unknown[], author: 'user' | 'system'): unknown[] {
  return (messages as readonly Message[])
    .filter(({ role }) => role === author)
    .map(({ content }) => (Array.isArray(content) ? content.filter(isOfAuthor) : content));
}

function isOfAuthor(part: Part | null | undefined): boolean {
  return part?.metadata?.purpose !== 'context';
}

/** The Genkit instance passed to a middleware. */
export type Genkit = Parameters<GenerateMiddleware['instantiate']>[0]['ai'];

/** The request of a generation, before its tools and model are looked up. */
interface GenerationRequest {
  readonly messages: readonly unknown[];
  readonly returnToolRequests?: boolean | undefined;
  readonly resume?: { readonly restart?: readonly ToolRequestPart[] | undefined } | undefined;
}

/** Values that Genkit keeps for running code. All copies of Genkit in a process share the object. */
interface AsyncContext {
  getStore(key: string): unknown;
}

function stored(key: string): unknown {
  const { __genkit_AsyncContext: context } = globalThis as { __genkit_AsyncContext?: AsyncContext };
  return context?.getStore(key);
}

/**
 * Returns Genkit's session of the running code. In older versions of Genkit, such as 1.36, only an instance of
 * `genkit/beta` has a method for it.
 */
function currentSession(ai: Genkit): { id?: unknown; sessionId?: unknown } | undefined {
  try {
    return ai.currentSession() as { id?: unknown; sessionId?: unknown };
  } catch {
    return (stored('ai.session') ?? undefined) as { id?: unknown; sessionId?: unknown } | undefined;
  }
}

/** Returns the request that the running generation works on, which its current span shows; otherwise undefined. */
export function currentRequest(): GenerationRequest | undefined {
  const span = stored('core.tracing.instrumentation.span') as
    | { readonly metadata?: { readonly input?: unknown } }
    | undefined;
  const request = span?.metadata?.input as Partial<GenerationRequest> | null | undefined;
  return Array.isArray(request?.messages) ? (request as GenerationRequest) : undefined;
}
