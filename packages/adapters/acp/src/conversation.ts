import { ActionDeniedError } from '@actlog/recorder';
import { abandonedCall, type TargetHooks } from '@actlog/recorder/adapter';
import type { ActlogOptions } from './acp-calls.ts';
import {
  chosenOption,
  decisionOf,
  isPermissionRequest,
  type Message,
  methods,
  type PermissionRequest,
  promptTexts,
  toolCallOf,
} from './messages.ts';
import { SessionCalls } from './session-calls.ts';

/** Number of sessions of one connection whose calls are remembered. */
const maxSessions = 1000;

type Id = Message['id'];

/** The other ends of a connection. */
interface Ends {
  readonly toAgent: (message: Message) => void;
  readonly toClient: (message: Message) => void;
}

/** Messages between one client and one agent, of which each is passed on, delayed or answered. */
export class Conversation {
  readonly #hooks: TargetHooks<ActlogOptions>;
  readonly #allowsWithoutAsking: boolean;
  readonly #ends: Ends;
  readonly #sessions = new Map<string, SessionCalls>();
  /** Requests of the client that begin and end something. */
  readonly #requests = new Map<Id, { readonly method: string; readonly session: SessionCalls }>();
  /** Requests for permission that the guard checks. */
  readonly #held = new Map<Id, AbortController>();
  /** Requests for permission that the user has been asked. */
  readonly #asked = new Map<Id, PermissionRequest>();

  constructor(hooks: TargetHooks<ActlogOptions>, allowsWithoutAsking: boolean, ends: Ends) {
    this.#hooks = hooks;
    this.#allowsWithoutAsking = allowsWithoutAsking;
    this.#ends = ends;
  }

  /** Passes on a message of the agent, now or once the guard allows it. */
  fromAgent(message: Message): void {
    const { method, params, id } = message;
    if (method === methods.permission && id !== undefined && isPermissionRequest(params)) {
      void this.#ask(message, id, params);
      return;
    }
    if (method === methods.update) this.#update(params);
    if (method === methods.cancelRequest && this.#cancelHeld(params)) return;
    if (method === undefined && id !== undefined) this.#responded(id, message.result);
    this.#ends.toClient(message);
  }

  /** Passes on a message of the client. */
  fromClient(message: Message): void {
    const { method, params, id } = message;
    if (method === undefined) this.#decided(id, message.result);
    else this.#requested(method, params, id);
    this.#ends.toAgent(message);
  }

  /** Ends everything when the connection does. */
  close(): void {
    for (const held of this.#held.values()) held.abort(abandonedCall('The connection closed.'));
    for (const session of this.#sessions.values()) session.endTurn(true);
    this.#sessions.clear();
  }

  #update(params: unknown): void {
    const call = toolCallOf(params);
    if (call) this.#session(call.sessionId).update(call.update);
  }

  #requested(method: string, params: unknown, id: Id): void {
    const { sessionId } = (params ?? {}) as { sessionId?: unknown };
    if (typeof sessionId !== 'string') return;
    if (method === methods.cancel) this.#session(sessionId).cancelTurn();
    if (method !== methods.prompt && method !== methods.load) return;
    const session = this.#session(sessionId);
    this.#requests.set(id, { method, session });
    if (method === methods.load) session.isLoading = true;
    else {
      session.startTurn();
      for (const calls of this.#hooks.recordersOf()) {
        for (const text of promptTexts(params)) calls.noteText('user', text, sessionId);
      }
    }
  }

  #responded(id: Id, result: unknown): void {
    const request = this.#requests.get(id);
    if (!request) return;
    this.#requests.delete(id);
    if (request.method === methods.load) request.session.isLoading = false;
    else
      request.session.endTurn((result as { stopReason?: unknown } | undefined)?.stopReason === 'cancelled');
  }

  /** Checks a call, and then asks the user, or answers itself. */
  async #ask(message: Message, id: Id, request: PermissionRequest): Promise<void> {
    const session = this.#session(request.sessionId);
    const held = new AbortController();
    this.#held.set(id, held);
    const signal = AbortSignal.any([held.signal, session.signal]);
    const answer = (result: unknown) => this.#ends.toAgent({ jsonrpc: '2.0', id, result } as Message);
    try {
      await session.check(request.toolCall, signal);
    } catch (error) {
      if (ActionDeniedError.isInstance(error)) {
        answer(chosenOption(request, ['reject_once', 'reject_always'], error.message));
        return;
      }
      if (signal.aborted) {
        answer(chosenOption(request, []));
        return;
      }
      // A failure of the recorder: the user decides, as without it.
    } finally {
      this.#held.delete(id);
    }
    if (this.#allowsWithoutAsking) {
      const allowed = request.options.some(({ kind }) => kind === 'allow_once' || kind === 'allow_always');
      if (allowed) {
        answer(chosenOption(request, ['allow_once', 'allow_always']));
        return;
      }
    }
    this.#asked.set(id, request);
    this.#ends.toClient(message);
  }

  #decided(id: Id, result: unknown): void {
    const request = this.#asked.get(id);
    if (!request) return;
    this.#asked.delete(id);
    const { sessionId, toolCall } = request;
    const decision = decisionOf(request, result);
    if (decision === 'reject') this.#session(sessionId).reject(toolCall.toolCallId);
    if (decision === 'cancel') this.#session(sessionId).cancelCall(toolCall.toolCallId);
  }

  #cancelHeld(params: unknown): boolean {
    const { requestId } = (params ?? {}) as { requestId?: Id };
    const held = this.#held.get(requestId);
    held?.abort(abandonedCall('The agent canceled its request.'));
    return held !== undefined;
  }

  #session(sessionId: string): SessionCalls {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const session = new SessionCalls(sessionId, this.#hooks);
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > maxSessions) {
      const [oldestId, oldest] = this.#sessions.entries().next().value as [string, SessionCalls];
      oldest.endTurn(true);
      this.#sessions.delete(oldestId);
    }
    return session;
  }
}
