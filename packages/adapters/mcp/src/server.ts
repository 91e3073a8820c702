import { randomUUID } from 'node:crypto';
import { ActionDeniedError, type ApprovedChange } from '@actlog/recorder';
import {
  type AdapterOptions,
  abandonedCall,
  argumentsOf,
  callMethod,
  currentSessionId,
  deniedResult,
  giveUpCalls,
  isCallParams,
  isErrorResult,
  isInputRequired,
  keepActionId,
  newSessionId,
  repetitionKey,
  runRepeatable,
  ServerCall,
  takeActionId,
  withChangeNotice,
} from '@actlog/recorder/adapter';
import { type Hooks, hooksOf, takeClientCallId } from './hooks.ts';
import { rememberThrownErrors, withThrownError } from './thrown-errors.ts';

/** A `Server` of `@modelcontextprotocol/sdk` or of `@modelcontextprotocol/server`. */
export interface ProtocolServer {
  setRequestHandler(...args: never[]): unknown;
  assertCanSetRequestHandler(method: never): void;
}

/** An `McpServer` of `@modelcontextprotocol/sdk` or of `@modelcontextprotocol/server`. */
export interface McpServer {
  readonly server: ProtocolServer;
  registerTool(...args: never[]): unknown;
}

type Handler = (
  request: { readonly method?: unknown; readonly params?: unknown },
  context: unknown,
) => Promise<unknown>;

/** Internals of a server. */
interface Server {
  readonly _requestHandlers?: unknown;
  readonly transport?: object | undefined;
  readonly fallbackRequestHandler?: Handler | undefined;
  setRequestHandler(...args: unknown[]): unknown;
  close?(): Promise<void>;
}

/** Records and guards every tool call of a server, on the server's side. */
export function recordServer(target: McpServer | ProtocolServer, options: AdapterOptions): void {
  serverHooks('server' in target ? target.server : target).add(options);
  rememberThrownErrors(target as object);
}

/**
 * Returns the hooks of a server, and installs them the first time.
 *
 * @param given - hooks to install; default: new ones
 */
export function serverHooks(target: ProtocolServer, given?: Hooks): Hooks {
  const server = target as unknown as Server;
  const wrap = (hooks: Hooks) => {
    wrapCallHandler(server, hooks);
    wrapFallback(server, hooks);
    wrapClose(server);
  };
  return hooksOf(server, wrap, given);
}

function wrapClose(server: Server): void {
  const { close } = server;
  if (typeof close !== 'function') return;
  server.close = () => {
    giveUpCalls(server);
    return close.call(server);
  };
}

/**
 * Wraps the tool call handler inside the server. That works before and after tools are registered, and the wrapper sees
 * the original request, once even if the SDK calls a tool several times.
 */
function wrapCallHandler(server: Server, hooks: Hooks): void {
  const { _requestHandlers: handlers, setRequestHandler } = server;
  if (!(handlers instanceof Map) || typeof setRequestHandler !== 'function') {
    throw new TypeError(
      'target must be a Client, McpServer or Server of ' +
        '@modelcontextprotocol/sdk 1, /client 2 or /server 2.',
    );
  }
  let wrapped: Handler | undefined;
  const wrap = () => {
    const handler: Handler | undefined = handlers.get(callMethod);
    if (!handler || handler === wrapped) return;
    wrapped = recordedHandler(server, hooks, handler);
    handlers.set(callMethod, wrapped);
  };
  wrap();
  server.setRequestHandler = (...args) => {
    const result = setRequestHandler.apply(server, args);
    wrap();
    return result;
  };
}

/** Wraps the fallback handler, with which a gateway may forward all requests. It is set by assignment only. */
function wrapFallback(server: Server, hooks: Hooks): void {
  const wrappers = new WeakSet<Handler>();
  const wrap = (fallback: Handler | undefined): Handler | undefined => {
    if (!fallback || wrappers.has(fallback)) return fallback;
    const recorded = recordedHandler(server, hooks, fallback);
    const wrapper: Handler = (request, given) =>
      request.method === callMethod ? recorded(request, given) : fallback(request, given);
    wrappers.add(wrapper);
    return wrapper;
  };
  let wrapped = wrap(server.fallbackRequestHandler);
  Object.defineProperty(server, 'fallbackRequestHandler', {
    configurable: true,
    enumerable: true,
    get: () => wrapped,
    set(fallback: Handler | undefined) {
      wrapped = wrap(fallback);
    },
  });
}

function recordedHandler(server: Server, hooks: Hooks, handler: Handler): Handler {
  return async (request, given) => {
    const { params } = request;
    if (!isCallParams(params)) return handler(request, given);
    const context = requestContext(given);
    const { signal, clientId: agentId, inputResponses, requestState } = context;
    const caller = { agentId, sessionId: context.sessionId };
    const callId = takeClientCallId(params) ?? randomUUID();
    const actionId = takeActionId(caller, { ...params, inputResponses, requestState }) ?? callId;
    const session = sessionOfRequest(context, server.transport, actionId);
    const call = {
      agentId,
      sessionId: session.id,
      toolName: params.name,
      arguments: argumentsOf(params),
      callId,
      actionId,
      signal,
      acceptsChanges: true,
    };
    const serverCall = new ServerCall(params);
    const wasConnected = server.transport !== undefined;
    let response: { readonly result: unknown } | undefined;
    const run = async (args?: unknown, change?: ApprovedChange) => {
      if (wasConnected && server.transport === undefined) throw connectionClosed();
      const changed = change ? { ...request, params: { ...params, arguments: args } } : request;
      const { result: own, thrown } = await withThrownError(() => handler(changed, given));
      const result = change ? withChangeNotice(own, change) : own;
      response = { result };
      if (thrown && isErrorResult(result)) throw thrown.error;
      return result;
    };
    const key = () => {
      const running = hooks.recordersOf(params.name)[0]?.currentCall();
      if (!running) return undefined;
      const isOfCall = session.isOfCall && running.sessionId === session.id;
      return repetitionKey(['server', running.agentId, isOfCall ? '' : running.sessionId], params);
    };
    const record = (recorded: typeof run) => hooks.run(call, recorded, (calls) => serverCall.termsOf(calls));
    try {
      await runRepeatable({ owner: server, run, key, record });
    } catch (error) {
      if (!response && ActionDeniedError.isInstance(error) && params.task === undefined) {
        return serverCall.withOutcomes(deniedResult(error));
      }
      if (!response) throw error;
    }
    if (isInputRequired(response?.result)) {
      keepActionId(caller, params, actionId);
      serverCall.goesOn();
    }
    return serverCall.withOutcomes(response?.result);
  };
}

/** Creates the error of a closed connection. The first SDKs do not abort running or held requests then. */
function connectionClosed(): Error {
  return abandonedCall('The connection closed before the tool could run.');
}

/** Sessions by transport, for connections without a session id, such as stdio. */
const sessions = new WeakMap<object, string>();

/** Session of a request, for calls that no client with the same recorder announced. */
interface RequestSession {
  readonly id: string;
  /** `true` if the session is for this call alone, because nothing shows which requests belong together. */
  readonly isOfCall: boolean;
}

/**
 * Returns the session of a request: from the transport, the surrounding `session.run`, or the connection. Requests over
 * HTTP without a session do not belong to one connection: each call gets its own session, because different clients
 * must not share one.
 *
 * @param actionId - id of the action, which requests of one call have in common
 */
function sessionOfRequest(
  { sessionId, isHttp }: RequestContext,
  transport: object | undefined,
  actionId: string,
): RequestSession {
  const known = sessionId || currentSessionId();
  if (known) return { id: known, isOfCall: false };
  if (isHttp || !transport || 'sessionIdGenerator' in transport) return { id: actionId, isOfCall: true };
  const id = sessions.get(transport) ?? newSessionId();
  sessions.set(transport, id);
  return { id, isOfCall: false };
}

/** Context of a request to a server. */
interface RequestContext {
  /** Aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal | undefined;
  /** Session of the transport; revision 2026-07-28 has none. */
  readonly sessionId: string | undefined;
  /** `true` if the request came over HTTP, as far as the SDK shows it. */
  readonly isHttp: boolean;
  /** OAuth client that the request is authorized for. */
  readonly clientId: string | undefined;
  /** User input requested earlier, in a continued call. */
  readonly inputResponses: unknown;
  /** State that the server requested back in a continued call. */
  readonly requestState: unknown;
}

/** Second argument of request handlers: `extra` in v1, `ctx` in v2. */
interface HandlerContext {
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
  readonly authInfo?: { readonly clientId?: string };
  readonly requestInfo?: unknown; // v1 from 1.13
  readonly http?: { readonly authInfo?: { readonly clientId?: string } };
  readonly mcpReq?: {
    readonly signal?: AbortSignal;
    readonly inputResponses?: unknown;
    readonly requestState?: () => unknown;
  };
}

/** Reads the context of either SDK. */
function requestContext(given: unknown): RequestContext {
  const { sessionId, signal, authInfo, requestInfo, http, mcpReq } = (given ?? {}) as HandlerContext;
  return {
    signal: mcpReq?.signal ?? signal,
    sessionId,
    isHttp: requestInfo !== undefined || http !== undefined,
    clientId: (http?.authInfo ?? authInfo)?.clientId,
    inputResponses: mcpReq?.inputResponses,
    requestState: mcpReq?.requestState?.(),
  };
}
