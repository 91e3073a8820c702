import { type AdapterCalls, noArgumentsHash, type RunningCall } from '@actlog/recorder/adapter';
import {
  EmittedCalls,
  enclosingOf,
  isMcpSpan,
  scopeOf,
  spanOutcome,
  type ToolSpan,
  toolSpanOf,
} from '@actlog/tool-call/spans';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { LiveSpans } from './live-spans.ts';
import type { ActlogOptions } from './options.ts';
import { otelCalls } from './otel-calls.ts';
import { SpanTexts } from './shown-texts.ts';
import { surroundings } from './surroundings.ts';

/** Records the tool calls of spans when they end. Never throws into the code that ends a span. */
export class ToolSpanProcessor implements SpanProcessor {
  readonly #calls: AdapterCalls;
  readonly #live = new LiveSpans();
  readonly #texts: SpanTexts;
  readonly #emitted = new EmittedCalls();
  /** Calls in which spans started. */
  readonly #startedIn = new WeakMap<ReadableSpan, RunningCall>();

  constructor(options: ActlogOptions) {
    this.#calls = otelCalls(options);
    this.#calls.watchHooked();
    this.#texts = new SpanTexts(this.#calls);
  }

  onStart(span: ReadableSpan): void {
    this.#texts.note(span, this.#live.begin(span));
    const call = this.#calls.currentCall();
    if (call) this.#startedIn.set(span, call);
  }

  onEnd(span: ReadableSpan): void {
    const around = this.#live.end(span);
    this.#noteTexts([span, ...around]);
    const tool = toolSpanOf(span);
    if (!tool || !this.#calls.covers(tool.toolName) || !this.#calls.claim(span)) return;
    if (this.#isReportedByAnother(span, tool, around)) return;
    const isShown = tool.arguments !== undefined;
    const startedIn = this.#callOf(span, around);
    const isInner = !startedIn && this.#startedIn.has(span);
    const call = {
      ...surroundings(span, around),
      toolName: tool.toolName,
      callId: tool.callId,
      arguments: tool.arguments,
      argumentsHash: isShown ? undefined : noArgumentsHash,
      startedAt: isInner ? undefined : dateOf(span.startTime),
      endedAt: dateOf(span.endTime),
      // Some frameworks create spans for calls that they refuse.
      mayBeRefused: true,
      startedIn,
    };
    this.#calls.recordUnhooked(call, spanOutcome(span, tool));
  }

  #isReportedByAnother(span: ReadableSpan, tool: ToolSpan, around: readonly ReadableSpan[]): boolean {
    const { traceId } = span.spanContext();
    const { toolName, callId } = tool;
    const call = { traceId, scope: scopeOf(span), toolName, callId, isMcp: isMcpSpan(span) };
    return this.#emitted.isReportedByAnother(call, enclosing(around));
  }

  /** Notes the texts of a span that ends and of those around it, whose attributes may have been set meanwhile. */
  #noteTexts(spans: readonly ReadableSpan[]): void {
    if (!this.#calls.tracesOrigins) return;
    for (const [place, span] of spans.entries()) this.#texts.note(span, spans.slice(place + 1));
  }

  /**
   * Returns the call in which a tool's span started, unless it is inside another tool's span of that call: then it is a
   * separate, inner call.
   */
  #callOf(span: ReadableSpan, around: readonly ReadableSpan[]): RunningCall | undefined {
    const call = this.#startedIn.get(span);
    const isWithinTool = around.some((outer) => this.#startedIn.get(outer) === call && toolSpanOf(outer));
    return isWithinTool ? undefined : call;
  }

  /** Resolves when the recorder has delivered its events, or on timeout. */
  async forceFlush(): Promise<void> {
    await this.#calls.recorder.flush();
  }

  /** Same as `forceFlush`: the recorder belongs to its creator, who may continue to use it. */
  shutdown(): Promise<void> {
    return this.forceFlush();
  }
}

/** Yields the enclosing spans that are of tools or of agents. */
function* enclosing(spans: readonly ReadableSpan[]) {
  for (const span of spans) {
    const outer = enclosingOf(span, toolSpanOf(span));
    if (outer) yield outer;
  }
}

/** OpenTelemetry uses seconds and nanoseconds. */
function dateOf([seconds, nanoseconds]: ReadableSpan['endTime']): Date {
  return new Date(seconds * 1000 + nanoseconds / 1_000_000);
}
