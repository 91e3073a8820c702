import { ActionDeniedError, type ToolOutcome } from '@actlog/recorder';
import { abandonedCall, type BegunCall, type HookedCall, type TargetHooks } from '@actlog/recorder/adapter';
import { type ActlogOptions, argumentsOf, outcomeOf, toolNameOf, unfinished } from './acp-calls.ts';
import {
  chosenOption,
  decisionOf,
  isPermissionRequest,
  type Message,
  methods,
  type PermissionRequest,
  promptTexts,
  type ToolCallUpdate,
  toolCallOf,
} from './messages.ts';

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
  /** Requests for permission that were passed on to the user. */
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

  /** Checks a call, then grants it, or passes the request on to the user. */
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

/** Number of ended calls that are remembered, because agents may send updates after the end. */
const maxEnded = 1000;

/** A call that has not ended. */
interface OpenCall {
  /** All that the agent has said about the call. */
  update: ToolCallUpdate;
  /** Set once the guard has allowed the call. */
  begun?: BegunCall | undefined;
  /** `true` while the guard checks the call. */
  isChecked?: boolean;
}

/** The tool calls of one session. */
class SessionCalls {
  readonly sessionId: string;
  readonly #hooks: TargetHooks<ActlogOptions>;
  readonly #open = new Map<string, OpenCall>();
  readonly #ended = new Set<string>();
  #turn = new AbortController();
  /** `true` while the agent repeats the history of a session, whose calls were recorded when they ran. */
  isLoading = false;

  constructor(sessionId: string, hooks: TargetHooks<ActlogOptions>) {
    this.sessionId = sessionId;
    this.#hooks = hooks;
  }

  /** Aborts when the user cancels the turn. */
  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  /** Adds what the agent says about a call, and records the call if it has ended. */
  update(update: ToolCallUpdate): void {
    const { toolCallId } = update;
    if (this.isLoading) this.#end(toolCallId);
    if (this.#ended.has(toolCallId)) return;
    const call = this.#merged(update);
    const outcome = outcomeOf(call.update);
    // A call that fails in a turn that was canceled was canceled.
    const isCanceled = outcome?.ok === false && this.#turn.signal.aborted;
    if (outcome && !call.isChecked) this.#record(call, isCanceled ? canceled() : outcome);
  }

  /**
   * Checks a call with the guard.
   *
   * @param signal - ends the wait for an approval
   * @throws ActionDeniedError when the guard denies the call
   */
  async check(update: ToolCallUpdate, signal: AbortSignal): Promise<void> {
    const { toolCallId } = update;
    const known = this.#open.get(toolCallId);
    const before = known && JSON.stringify(argumentsOf(known.update));
    const call = this.#merged(update);
    if (call.begun) {
      // An agent may repeat the request for one call; other arguments are another action.
      if (before === JSON.stringify(argumentsOf(call.update))) return;
      void call.begun.end({ ok: true, result: unfinished });
      call.begun = undefined;
    }
    call.isChecked = true;
    try {
      call.begun = await this.#hooks.begin(this.#hooked(call.update, signal));
    } catch (error) {
      this.#end(toolCallId); // the guard has recorded it
      throw error;
    } finally {
      call.isChecked = false;
    }
    // The agent did not wait for the permission.
    const outcome = outcomeOf(call.update);
    if (outcome) this.#record(call, outcome);
  }

  /** Ends a call that the user has rejected. */
  reject(toolCallId: string): void {
    const call = this.#open.get(toolCallId);
    const error = Object.assign(new Error('The user rejected the tool call.'), { status: 403 });
    if (call) this.#record(call, { ok: false, error });
  }

  /** Ends a call whose permission was canceled. */
  cancelCall(toolCallId: string): void {
    const call = this.#open.get(toolCallId);
    if (call) this.#record(call, canceled());
  }

  /** Cancels the turn: held calls never run. Calls that still run end as the agent says, or with the turn. */
  cancelTurn(): void {
    this.#turn.abort(abandonedCall('The turn was canceled.'));
  }

  /** Starts a turn. */
  startTurn(): void {
    if (this.#turn.signal.aborted) this.#turn = new AbortController();
  }

  /** Ends all calls that have no end yet. */
  endTurn(isCanceled: boolean): void {
    const outcome: ToolOutcome =
      isCanceled || this.#turn.signal.aborted ? canceled() : { ok: true, result: unfinished };
    for (const call of this.#open.values()) if (!call.isChecked) this.#record(call, outcome);
  }

  #merged(update: ToolCallUpdate): OpenCall {
    const known = this.#open.get(update.toolCallId);
    if (!known) {
      const call = { update };
      this.#open.set(update.toolCallId, call);
      return call;
    }
    const changes = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
    known.update = { ...known.update, ...Object.fromEntries(changes) };
    return known;
  }

  #hooked(update: ToolCallUpdate, signal?: AbortSignal): HookedCall {
    return {
      toolName: toolNameOf(update),
      arguments: argumentsOf(update),
      callId: `${this.sessionId}/${update.toolCallId}`,
      sessionId: this.sessionId,
      signal,
    };
  }

  #record({ update, begun }: OpenCall, outcome: ToolOutcome): void {
    this.#end(update.toolCallId);
    if (begun) {
      void begun.end(outcome);
      return;
    }
    const call = this.#hooked(update);
    for (const calls of this.#hooks.recordersOf(call.toolName)) calls.record(call, outcome);
  }

  #end(toolCallId: string): void {
    this.#open.delete(toolCallId);
    this.#ended.add(toolCallId);
    if (this.#ended.size > maxEnded) this.#ended.delete(this.#ended.values().next().value as string);
  }
}

function canceled(): ToolOutcome {
  return { ok: false, error: abandonedCall('The turn was canceled.') };
}
