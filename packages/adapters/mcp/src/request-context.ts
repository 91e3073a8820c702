/** What a server knows of the request that it answers. */
export interface RequestContext {
  /** Aborts when the client cancels the request or goes away. */
  readonly signal: AbortSignal | undefined;
  /** The session of the transport; revision 2026-07-28 has none. */
  readonly sessionId: string | undefined;
  /** The OAuth client that the request is authorized for. */
  readonly clientId: string | undefined;
  /** What the client was asked for, where the request goes on with a call. */
  readonly inputResponses: unknown;
  /** What the client was to say again, where the request goes on with a call. */
  readonly requestState: unknown;
}

/** What request handlers are given behind the request: `extra` in v1, `ctx` in v2. */
interface HandlerContext {
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
  readonly authInfo?: { readonly clientId?: string };
  readonly http?: { readonly authInfo?: { readonly clientId?: string } };
  readonly mcpReq?: {
    readonly signal?: AbortSignal;
    readonly inputResponses?: unknown;
    readonly requestState?: () => unknown;
  };
}

/** Reads the context of either SDK. */
export function requestContext(given: unknown): RequestContext {
  const { sessionId, signal, authInfo, http, mcpReq } = (given ?? {}) as HandlerContext;
  return {
    signal: mcpReq?.signal ?? signal,
    sessionId,
    clientId: (http?.authInfo ?? authInfo)?.clientId,
    inputResponses: mcpReq?.inputResponses,
    requestState: mcpReq?.requestState?.(),
  };
}
