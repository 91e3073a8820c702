/** Context of a request to a server. */
export interface RequestContext {
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
  /** State that the server asked to receive again, in a continued call. */
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
export function requestContext(given: unknown): RequestContext {
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
