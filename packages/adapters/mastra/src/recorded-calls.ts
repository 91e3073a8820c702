import type { Recorder } from '@actlog/recorder';
import { processWidePerOwner } from '@actlog/recorder/adapter';

/** Spans to remember, at most: they are asked about while the call is under way, or soon after. */
const maxSpans = 10_000;

/** What tells calls apart in Mastra's traces. */
export interface TracedCall {
  readonly traceId: string | undefined;
  /** Older Mastra does not tell it. */
  readonly callId: string | undefined;
}

/** What one recorder has already, so that all hooks and exporters together count each call once. */
export class RecordedCalls {
  readonly #invocations = new WeakSet<object>();
  readonly #spans = new Set<string>();
  /** How many calls of an id exporters have recorded: a model may give the same id in different turns. */
  readonly #exported = new Map<string, number>();
  /** Ids of calls that wrapped tools have recorded, by the conversation that both they and hooks are given. */
  readonly #byTools = new WeakMap<object, Set<string>>();

  /**
   * Whether nobody has recorded this call yet; from then on, somebody has.
   *
   * @param invocation - what Mastra gives the tool: one object a call
   */
  takeInvocation(invocation: object): boolean {
    if (this.#invocations.has(invocation)) return false;
    this.#invocations.add(invocation);
    return true;
  }

  /** Whether nobody has recorded the call of this span yet; from then on, somebody has. */
  takeSpan(spanId: string): boolean {
    if (this.#spans.has(spanId)) return false;
    this.#spans.add(spanId);
    forgetOldest(this.#spans);
    return true;
  }

  /** Notes that an exporter has recorded a call which no hook saw begin. */
  noteExported(call: TracedCall): void {
    const name = nameOf(call);
    this.#exported.set(name, (this.#exported.get(name) ?? 0) + 1);
    forgetOldest(this.#exported);
  }

  /** Whether an exporter has recorded this call; to be asked once a call. */
  takeExported(call: TracedCall): boolean {
    const name = nameOf(call);
    const count = this.#exported.get(name) ?? 0;
    if (count > 0) this.#exported.set(name, count - 1);
    return count > 0;
  }

  /** Notes that a wrapped tool records a call, for hooks that did not see it begin. */
  noteByTool(messages: object | undefined, callId: string | undefined): void {
    if (!messages || callId === undefined) return;
    const ids = this.#byTools.get(messages) ?? new Set();
    this.#byTools.set(messages, ids.add(callId));
  }

  /** Whether a wrapped tool records this call. */
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

/** What a recorder has. */
export const recordedCalls: (recorder: Recorder) => RecordedCalls = processWidePerOwner(
  '@actlog/mastra/recorded-calls',
  () => new RecordedCalls(),
);
