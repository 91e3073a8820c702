import type { Recorder } from '@actlog/recorder';
import { processWidePerOwner } from '@actlog/recorder/adapter';

/** Maximum number of spans to remember; they are looked up during the call or soon after. */
const maxSpans = 10_000;

/** Key of a call in Mastra's traces. */
export interface TracedCall {
  readonly traceId: string | undefined;
  /** Older versions of Mastra do not provide it. */
  readonly callId: string | undefined;
}

/** Calls that one recorder already has, so that all hooks and exporters together count each call once. */
export class RecordedCalls {
  readonly #invocations = new WeakSet<object>();
  readonly #spans = new Set<string>();
  /** Number of calls per id that exporters have recorded: a model may reuse an id in different turns. */
  readonly #exported = new Map<string, number>();
  /** Ids of calls that wrapped tools have recorded, by the conversation, which both they and hooks receive. */
  readonly #byTools = new WeakMap<object, Set<string>>();

  /**
   * Claims a call. Returns `true` if it has not been recorded yet.
   *
   * @param invocation - context that Mastra passes to the tool: one object per call
   */
  takeInvocation(invocation: object): boolean {
    if (this.#invocations.has(invocation)) return false;
    this.#invocations.add(invocation);
    return true;
  }

  /** Claims the call of a span. Returns `true` if it has not been recorded yet. */
  takeSpan(spanId: string): boolean {
    if (this.#spans.has(spanId)) return false;
    this.#spans.add(spanId);
    forgetOldest(this.#spans);
    return true;
  }

  /** Remembers a call that an exporter recorded and no hook saw start. */
  rememberExported(call: TracedCall): void {
    const name = nameOf(call);
    this.#exported.set(name, (this.#exported.get(name) ?? 0) + 1);
    forgetOldest(this.#exported);
  }

  /** Returns `true` if an exporter has recorded this call, once per call. */
  takeExported(call: TracedCall): boolean {
    const name = nameOf(call);
    const count = this.#exported.get(name) ?? 0;
    if (count > 0) this.#exported.set(name, count - 1);
    return count > 0;
  }

  /** Remembers a call that a wrapped tool records, for hooks that did not see it start. */
  rememberByTool(messages: object | undefined, callId: string | undefined): void {
    if (!messages || callId === undefined) return;
    const ids = this.#byTools.get(messages) ?? new Set();
    this.#byTools.set(messages, ids.add(callId));
  }

  /** Returns `true` if a wrapped tool records this call. */
  hasByTool(messages: object | undefined, callId: string | undefined): boolean {
    return messages !== undefined && callId !== undefined && !!this.#byTools.get(messages)?.has(callId);
  }
}

function nameOf({ traceId, callId }: TracedCall): string {
  return `${traceId} ${callId}`;
}

function forgetOldest(remembered: Map<string, unknown> | Set<string>): void {
  if (remembered.size > maxSpans) remembered.delete(remembered.keys().next().value as string);
}

/** Returns the calls that a recorder already has. */
export const recordedCalls: (recorder: Recorder) => RecordedCalls = processWidePerOwner(
  '@actlog/mastra/recorded-calls',
  () => new RecordedCalls(),
);
