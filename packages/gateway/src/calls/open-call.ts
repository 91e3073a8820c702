import { ActionDeniedError, type ApprovedChange } from '@actlog/recorder';
import {
  type AdapterCalls,
  argumentsOf,
  type CallParams,
  createEventId,
  deniedResult,
  type HookedCall,
  isInputRequired,
  keepActionId,
  metaKey,
  noteRecordedStatus,
  policyOf,
  repetitionKey,
  runRepeatable,
  ServerCall,
  sealedIn,
  takeActionId,
} from '@actlog/recorder/adapter';
import {
  elementTexts,
  errorText,
  notificationText,
  RpcError,
  type RpcMessage,
  resultText,
  rpcErrors,
  withValue,
} from '../messages/json-rpc.ts';
import { ToolChangedError } from '../tools/server-tools.ts';
import { type Caller, type GatewayCalls, unanswered } from './gateway-calls.ts';

/** A request, or notification, that calls a tool. */
export interface CallRequest extends RpcMessage {
  readonly params: CallParams;
}

/** Decision about a call: to forward it, with announcements for the server and an approver's change, or not to. */
export type CallDecision =
  | {
      readonly runs: true;
      readonly announcements: readonly string[];
      /** The approver's change of the arguments; undefined for none. */
      readonly change: ApprovedChange | undefined;
    }
  /** `response` is undefined if the client expects none. */
  | { readonly runs: false; readonly response: string | undefined };

/** Changes that a response needs before the client gets it. */
export interface ResponseChanges {
  /** Outcomes to add for a client that announced the call. */
  readonly outcomes: readonly string[];
  /** `true` if the outcomes in the response are meant for the gateway. */
  readonly removesOutcomes: boolean;
  /** Sentence for the model about an approver's change; undefined for none. */
  readonly notice: string | undefined;
}

/** Surroundings of a call. */
export interface CallContext extends Caller {
  readonly calls: GatewayCalls;
  /** Person or system on whose behalf the call is made, if the client proved it. */
  readonly principal: string | undefined;
  /** W3C `traceparent` of the request that brought the call; undefined for none. */
  readonly traceparent: string | undefined;
  /** Client's connection, with which waiting calls end. */
  readonly owner: object;
  /** Receives the decision, while the call's line can still be forwarded in order. */
  decided(decision: CallDecision): void;
  /** Sends a message to the client while the call waits. */
  notify(text: string): void;
  /** Returns when the definition of the tool lets it be called, or `undefined` if it does at once. */
  admit(holdMs: number, signal: AbortSignal): Promise<void> | undefined;
}

/** A tool call between the client's request and its response, which is checked, recorded and held. */
export class OpenCall {
  readonly id: unknown;
  /** Resolves when the call is recorded, or continues in another request. */
  readonly recorded: Promise<ResponseChanges>;
  readonly #request: CallRequest;
  readonly #context: CallContext;
  readonly #abort = new AbortController();
  readonly #response = Promise.withResolvers<unknown>();
  #isDecided = false;
  #endNotifying: (() => void) | undefined;

  /** Starts the call: without a check, its decision is known when this returns. */
  constructor(request: CallRequest, context: CallContext) {
    this.id = request.id;
    this.#request = request;
    this.#context = context;
    this.#response.promise.catch(() => {}); // a call that does not run awaits none
    const progressToken = progressTokenOf(request.params);
    const canNotify = progressToken !== undefined && request.id !== undefined;
    const { calls } = context;
    this.recorded = this.#record(calls.for({ canNotify }), calls.holdMs({ canNotify }));
    if (canNotify && !this.#isDecided) {
      this.#endNotifying = notifyWhileHeld(progressToken, context.notify);
    }
  }

  /** `true` once the call is forwarded or refused. */
  get isDecided(): boolean {
    return this.#isDecided;
  }

  /** Ends the call with the server's response. */
  respond({ result, error }: RpcMessage): void {
    if (error === undefined) this.#response.resolve(result);
    else this.#response.reject(RpcError.of(error));
  }

  /** Ends the call because its client does not want it any more; if it was not forwarded, it never is. */
  cancel(reason: unknown): void {
    this.#abort.abort(reason);
    this.#response.reject(reason);
  }

  /** Ends the call because the server is gone. */
  fail(error: RpcError): void {
    if (!this.#isDecided) this.#abort.abort(error);
    this.#response.reject(error);
  }

  async #record(calls: AdapterCalls, holdMs: number): Promise<ResponseChanges> {
    const { params } = this.#request;
    const { sessionId, agentId, owner, calls: gateway } = this.#context;
    const caller = { sessionId, agentId };
    // The event of the call gets this id, so that policies can tell how the call ended.
    const callId = createEventId(Date.now());
    const actionId = takeActionId(caller, params) ?? gateway.pending.take(caller, params) ?? callId;
    const serverCall = new ServerCall(params);
    let response: { readonly result: unknown } | undefined;
    let announcements: readonly string[] = [];
    let notice: string | undefined;
    const run = async (_args?: unknown, change?: ApprovedChange) => {
      const { signal } = this.#abort;
      signal.throwIfAborted();
      if (gateway.announces && !serverCall.isAnnounced) {
        announcements = [calls.sharedCalls?.announce(actionId) ?? []].flat();
      }
      notice = change?.notice;
      this.#decide({ runs: true, announcements, change });
      const result = this.id === undefined ? unanswered : await this.#response.promise;
      response = { result };
      noteOutcomes(calls, result, announcements.length > 0);
      return result;
    };
    const key = () => {
      const running = calls.currentCall();
      return running && repetitionKey(['gateway', running.agentId, running.sessionId], params);
    };
    const call = {
      toolName: params.name,
      arguments: argumentsOf(params),
      sessionId,
      agentId,
      traceparent: this.#context.traceparent,
      callId,
      actionId,
      signal: this.#abort.signal,
      acceptsChanges: true,
    };
    const record = (recorded: typeof run) => calls.run({ ...call, ...serverCall.termsOf(calls) }, recorded);
    try {
      const admitted = this.#context.admit(holdMs, this.#abort.signal);
      // Only then, because a call that waits for nothing is decided when the constructor returns.
      if (admitted) await admitted.catch((error: unknown) => this.#recordRefused(calls, call, error));
      await gateway.onBehalfOf(this.#context.principal, () => runRepeatable({ owner, run, key, record }));
    } catch (error) {
      // A tool that is always denied is not to be listed any more.
      if (ActionDeniedError.isInstance(error)) gateway.tools?.denied?.refresh();
      const mayBeApproved = isPending(error) || isTimeout(error);
      if (!this.#isDecided && mayBeApproved) gateway.pending.keep(caller, params, actionId);
      this.#decide({ runs: false, response: this.#refusal(error) });
    }
    if (isInputRequired(response?.result)) {
      keepActionId(caller, params, actionId);
      serverCall.goesOn();
    }
    const isRecordedByServer = sealedIn(response?.result).length > 0;
    return {
      outcomes: isRecordedByServer ? [] : serverCall.outcomes,
      removesOutcomes: isRecordedByServer && announcements.length > 0,
      notice,
    };
  }

  /** Records a call that the definition of its tool, or the client, stopped before it was checked. */
  #recordRefused(calls: AdapterCalls, call: HookedCall, error: unknown): never {
    calls.record(call, { ok: false, error });
    throw error;
  }

  /** Reports the first decision only, because the call of a forwarded request may still fail. */
  #decide(decision: CallDecision): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    this.#endNotifying?.();
    this.#context.decided(decision);
  }

  #refusal(error: unknown): string | undefined {
    if (this.id === undefined) return undefined;
    if (ActionDeniedError.isInstance(error)) return refusalText(this.id, this.#request.params, error);
    if (error instanceof ToolChangedError) return errorResult(this.id, this.#request.params, error.message);
    if (error instanceof RpcError) return errorText(this.id, Number(error.code), error.message);
    // The client canceled the call, and expects no response.
    if (this.#abort.signal.aborted) return undefined;
    return errorText(this.id, rpcErrors.internalError, 'The call could not be checked, and was not run.');
  }
}

/** Takes the status that the server recorded: it knows more than a client. */
function noteOutcomes(calls: AdapterCalls, result: unknown, isAnnounced: boolean): void {
  const [status] = sealedIn(result).flatMap((outcome) => calls.sharedCalls?.openOutcome(outcome) ?? []);
  if (status !== undefined) noteRecordedStatus(result, status);
  else if (isAnnounced && !isInputRequired(result)) calls.sharedCalls?.withdraw();
}

function isTimeout(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null | undefined)?.name === 'TimeoutError';
}

/** Key in `_meta` of requests since revision 2026-07-28, whose results name their type. */
const protocolVersionKey = 'io.modelcontextprotocol/protocolVersion';

/** `true` if a call ended before a person decided, who still can. */
function isPending(error: unknown): boolean {
  return (
    ActionDeniedError.isInstance(error) &&
    error.because === 'approval-timed-out' &&
    error.decision === 'require_approval'
  );
}

/**
 * Returns the response to a call that did not run: a result that the model can read. It has `isError`, because a result
 * without an error must have the structured content that the tool declares.
 */
function refusalText(id: unknown, params: CallParams, error: ActionDeniedError): string {
  const message = isPending(error) ? pendingMessage(error) : error.message;
  return errorResult(id, params, message, deniedResult(error));
}

/** @param more - members of the result beside its text */
function errorResult(id: unknown, params: CallParams, message: string, more: object = {}): string {
  // The result of such a call describes a task, and cannot contain a message.
  if (params.task !== undefined) return errorText(id, rpcErrors.internalError, message);
  const result = { ...more, isError: true, content: [{ type: 'text', text: message }] };
  return resultText(id, isTyped(params) ? { resultType: 'complete', ...result } : result);
}

function pendingMessage(error: ActionDeniedError): string {
  const { toolName, pendingActionId } = error;
  const policy = policyOf(error);
  const action = pendingActionId ? ` (pending action ${pendingActionId})` : '';
  return (
    `The call of the tool ${JSON.stringify(toolName)} was not run yet: it needs a person's approval${policy && ` under ${policy}`}, which is ` +
    `pending${action}. Tell the user, and call the tool again with the same arguments once it is approved.`
  );
}

function isTyped(params: CallParams): boolean {
  const { _meta: meta } = params as { readonly _meta?: unknown };
  return typeof meta === 'object' && meta !== null && protocolVersionKey in meta;
}

/** Delay before the first notification, in milliseconds. Most checks are decided sooner. */
const initialDelayMs = 1000;
/** Delay between two notifications, in milliseconds. */
const delayMs = 5000;
/** Growth of the progress with each notification: less than any progress that the server reports later. */
const step = 1e-6;

/** Returns the progress token of a request; undefined if the client wants no notifications. */
export function progressTokenOf(params: unknown): string | number | undefined {
  const { _meta: meta } = (params ?? {}) as { readonly _meta?: { readonly progressToken?: unknown } | null };
  const token = meta?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/**
 * Notifies a client regularly that its call waits, so that its time limit starts anew (Model Context Protocol,
 * "Progress", "Timeouts").
 *
 * @param notify - receives the text of each notification
 * @returns a function that ends the notifications
 */
function notifyWhileHeld(progressToken: string | number, notify: (text: string) => void): () => void {
  let count = 0;
  let timer: NodeJS.Timeout;
  const next = (afterMs: number) => {
    timer = setTimeout(() => {
      count += 1;
      const progress = { progressToken, progress: count * step, message: 'Waiting for approval.' };
      notify(notificationText('notifications/progress', progress));
      next(delayMs);
    }, afterMs);
    timer.unref();
  };
  next(initialDelayMs);
  return () => clearTimeout(timer);
}

/** Parts of a line of the client, when all of its calls are decided. */
export interface DecidedLine {
  /** Text for the server; undefined if none of its messages is forwarded. The very line if all are. */
  readonly forwarded: Buffer | undefined;
  /** Responses to the calls that are not. */
  readonly responses: readonly string[];
}

/** A line of the client with tool calls: it is forwarded when all of its calls are decided. */
export class CallLine {
  readonly isBatch: boolean;
  readonly #line: Buffer;
  readonly #decisions = new Map<number, CallDecision>();
  readonly #calls: number;
  readonly #decided: (line: DecidedLine) => void;

  /**
   * @param calls - number of its tool calls
   * @param decided - receives the parts, once
   */
  constructor(line: Buffer, isBatch: boolean, calls: number, decided: (line: DecidedLine) => void) {
    this.#line = line;
    this.isBatch = isBatch;
    this.#calls = calls;
    this.#decided = decided;
  }

  /** Records the decision about the message at an index. */
  decide(index: number, decision: CallDecision): void {
    this.#decisions.set(index, decision);
    if (this.#decisions.size === this.#calls) this.#decided(this.#parts());
  }

  #parts(): DecidedLine {
    const all = [...this.#decisions.values()];
    const responses = all.flatMap((decision) => (decision.runs ? [] : (decision.response ?? [])));
    const isUnchanged = all.every(
      (decision) => decision.runs && decision.announcements.length === 0 && !decision.change,
    );
    return { forwarded: isUnchanged ? this.#line : this.#changed(), responses };
  }

  #changed(): Buffer | undefined {
    const text = this.#line.toString();
    if (!this.isBatch) return this.#buffer(this.#element(text, 0));
    const kept = elementTexts(text).flatMap((element, index) => this.#element(element, index) ?? []);
    return kept.length === 0 ? undefined : this.#buffer(`[${kept.join(',')}]\n`);
  }

  #element(text: string, index: number): string | undefined {
    const decision = this.#decisions.get(index);
    if (decision?.runs === false) return undefined;
    const { announcements = [], change } = decision ?? {};
    const changed = change ? withChangedArguments(text, change) : text;
    return announcements.length === 0
      ? changed
      : withValue(changed, ['params', '_meta', metaKey], announcements);
  }

  #buffer(text: string | undefined): Buffer | undefined {
    return text === undefined ? undefined : Buffer.from(text);
  }
}

/** Returns a request with the arguments that an approver changed. All other characters stay as they are. */
function withChangedArguments(text: string, { arguments: args, changes }: ApprovedChange): string {
  return Object.keys(changes).reduce((request, path) => {
    const names = path.split('.');
    const value = names.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], args);
    return withValue(request, ['params', 'arguments', ...names], value);
  }, text);
}
