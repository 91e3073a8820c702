import type { Suspending } from './suspension.ts';
import type { LocatedSpan } from './tracing/span-location.ts';

/** A running span. */
export interface LiveSpan extends LocatedSpan {
  readonly id?: string;
  readonly traceId?: string;
  readonly parent?: LiveSpan;
}

/** Context that Mastra passes to a tool beside its input, limited to what identifies a call. */
export interface Invocation extends Suspending {
  readonly toolCallId?: string;
  readonly messages?: object | undefined;
  readonly abortSignal?: AbortSignal;
  readonly requestContext?: { get(key: string): unknown };
  readonly tracingContext?: { readonly currentSpan?: LiveSpan };
}
