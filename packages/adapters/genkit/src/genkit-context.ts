import type { GenerateMiddleware, ToolRequestPart } from 'genkit';

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
 * Returns Genkit's own session of the running code. In older versions of Genkit, such as 1.36, only an instance of
 * `genkit/beta` has a method for it.
 */
export function currentSession(ai: Genkit): { id?: unknown; sessionId?: unknown } | undefined {
  try {
    return ai.currentSession() as { id?: unknown; sessionId?: unknown };
  } catch {
    return (stored('ai.session') ?? undefined) as { id?: unknown; sessionId?: unknown } | undefined;
  }
}

/** Returns the request that the running generation works on, which its current span shows; else undefined. */
export function currentRequest(): GenerationRequest | undefined {
  const span = stored('core.tracing.instrumentation.span') as
    | { readonly metadata?: { readonly input?: unknown } }
    | undefined;
  const request = span?.metadata?.input as Partial<GenerationRequest> | null | undefined;
  return Array.isArray(request?.messages) ? (request as GenerationRequest) : undefined;
}
