import type { Suspending } from './suspension.ts';
import type { LocatedSpan } from './traced-place.ts';

/** A span that is under way. */
export interface LiveSpan extends LocatedSpan {
  readonly id?: string;
  readonly traceId?: string;
  readonly parent?: LiveSpan;
}

/** What Mastra gives a tool beside its input, as far as a call is known by it. */
export interface Invocation extends Suspending {
  readonly toolCallId?: string;
  readonly messages?: object;
  readonly abortSignal?: AbortSignal;
  readonly requestContext?: { get(key: string): unknown };
  readonly tracingContext?: { readonly currentSpan?: LiveSpan };
}
