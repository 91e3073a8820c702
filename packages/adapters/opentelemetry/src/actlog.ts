import {
  AdapterCalls,
  currentSessionId,
  type HookedCall,
  noArgumentsHash,
  noteTexts,
  type RecordOnlyOptions,
  type RunningCall,
  refuseGuard,
  toolContent,
  traceparentOf,
} from '@actlog/recorder/adapter';
import {
  agentIn,
  EmittedCalls,
  enclosingOf,
  type GenAiSpan,
  isInterruption,
  isMcpSpan,
  jsonOf,
  numberedAgentIn,
  scopeOf,
  sessionIn,
  spanOutcome,
  type ToolSpan,
  textOf,
  toolSpanOf,
} from '@actlog/tool-call/spans';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/**
 * Records every tool call for which an instrumented agent creates a span:
 *
 * ```ts
 * const sdk = new NodeSDK({ spanProcessors: [actlog()] });
 * ```
 *
 * It only records, because a span ends after the tool has run. If a framework's adapter sees the same call, that
 * adapter records it, once.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog(options: ActlogOptions = {}): SpanProcessor {
  refuseGuard(options, "such as actlog of the framework's own adapter");
  return new ToolSpanProcessor(options);
}

/** Records the tool calls of spans when they end. Never throws into the code that ends a span. */
class ToolSpanProcessor implements SpanProcessor {
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
    this.#rememberTexts([span, ...around]);
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
      traceparent: traceparentOf(span.spanContext()),
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

  /** Remembers the messages of a span that ends and of its parents, whose attributes may have been set meanwhile. */
  #rememberTexts(spans: readonly ReadableSpan[]): void {
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

/** Creates the `AdapterCalls` of this adapter. */
function otelCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'opentelemetry',
      sdk: `@actlog/opentelemetry/${version}`,
      form: 'spanProcessors: [actlog({ agentId })]',
      resultOf: toolContent,
      statusOf: (outcome) => (!outcome.ok && isInterruption(outcome.error) ? null : undefined),
    },
    options,
  );
}

/** Maximum number of spans kept, because some are never ended. */
const maxSpans = 10_000;
const maxDepth = 100;

/** A span that has started and not ended. */
interface LiveSpan {
  readonly span: ReadableSpan;
  /** Enclosing spans, innermost first. They may end earlier. */
  readonly around: readonly ReadableSpan[];
}

/** Running spans and their enclosing spans, whose attributes describe the context of a tool call. */
export class LiveSpans {
  readonly #spans = new Map<string, LiveSpan>();

  /** Adds a started span and returns its enclosing spans, innermost first. */
  begin(span: ReadableSpan): readonly ReadableSpan[] {
    const outer = this.#spans.get(parentIdOf(span) ?? '');
    const around = outer ? [outer.span, ...outer.around].slice(0, maxDepth) : [];
    this.#spans.set(span.spanContext().spanId, { span, around });
    const [oldest] = this.#spans.keys();
    if (this.#spans.size > maxSpans && oldest !== undefined) this.#spans.delete(oldest);
    return around;
  }

  /** Removes an ended span and returns its enclosing spans, innermost first. */
  end(span: ReadableSpan): readonly ReadableSpan[] {
    const { spanId } = span.spanContext();
    const around = this.#spans.get(spanId)?.around ?? [];
    this.#spans.delete(spanId);
    return around;
  }
}

/** Attributes with messages (OpenTelemetry's semantic conventions for GenAI). */
const messagesKey = 'gen_ai.input.messages';
const instructionsKey = 'gen_ai.system_instructions';

interface Message {
  readonly role?: unknown;
  readonly parts?: unknown;
}

interface Part {
  readonly type?: unknown;
  readonly content?: unknown;
}

/** Remembers user messages and system prompts from spans, for argument origins. */
class SpanTexts {
  readonly #calls: AdapterCalls;
  /** Messages by their span, because spans are read again whenever a tool within them ends. */
  readonly #seen = new WeakMap<ReadableSpan, string>();

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /**
   * Remembers the messages of a span, unless it is within a tool's span: a model may have written them.
   *
   * @param around - enclosing spans, innermost first
   */
  note(span: ReadableSpan, around: readonly ReadableSpan[]): void {
    if (!this.#calls.tracesOrigins) return;
    const messages = textOf(span.attributes, messagesKey);
    const instructions = textOf(span.attributes, instructionsKey);
    if (messages === undefined && instructions === undefined) return;
    const shown = `${messages}\n${instructions}`;
    if (this.#seen.get(span) === shown) return;
    this.#seen.set(span, shown);
    noteTexts(this.#calls, () => {
      if (around.some((outer) => toolSpanOf(outer))) return {};
      const system = [textsOf(jsonOf(instructions) ?? instructions), ...byAuthor('system', messages)];
      return { sessionId: conversationOf(span, around), user: byAuthor('user', messages), system };
    });
  }
}

function byAuthor(author: 'user' | 'system', messages: string | undefined): unknown[] {
  const list = jsonOf(messages);
  if (!Array.isArray(list)) return [];
  return (list as readonly Message[])
    .filter((message) => message?.role === author)
    .map(({ parts }) => textsOf(parts));
}

/** Returns the text of each part in the form of the conventions. */
function textsOf(parts: unknown): unknown {
  if (!Array.isArray(parts)) return parts;
  return (parts as readonly Part[]).map((part) => (part?.type === 'text' ? part.content : undefined));
}

/**
 * Returns the session and the agent of a span or of the nearest enclosing span, and the agents around that. Without any, the session is the
 * surrounding `session.run`, otherwise the trace, unless the span is the only one in it.
 */
function surroundings(
  span: ReadableSpan,
  around: readonly ReadableSpan[],
): Pick<HookedCall, 'sessionId' | 'agentId' | 'parentAgentIds'> {
  const spans = [span, ...around];
  const sessionId = parentIdOf(span) === undefined ? ownSession(span, around) : conversationOf(span, around);
  const agents = new Set(spans.map((one) => agentIn(one)).filter((id) => id !== undefined));
  const [agentId = first(spans, numberedAgentIn), ...parentAgentIds] = agents;
  return { sessionId, agentId, parentAgentIds };
}

/** Returns the session of the tool calls within a span. */
function conversationOf(span: ReadableSpan, around: readonly ReadableSpan[]): string {
  return ownSession(span, around) ?? span.spanContext().traceId;
}

function ownSession(span: ReadableSpan, around: readonly ReadableSpan[]): string | undefined {
  return first([span, ...around], sessionIn) ?? currentSessionId();
}

function first(
  spans: readonly GenAiSpan[],
  read: (span: GenAiSpan) => string | undefined,
): string | undefined {
  for (const span of spans) {
    const value = read(span);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Parent of a span in version 1 of the SDK, which Genkit depends on. */
interface Version1 {
  readonly parentSpanId?: string;
}

/** Returns the id of the parent span; undefined for a root span. */
function parentIdOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId ?? (span as Version1).parentSpanId;
}

/**
 * Options of the adapter. All are optional. There is no guard, because a span describes a call that has already run.
 */
export type ActlogOptions = RecordOnlyOptions;

/** Version of this package; the release writes it. */
export const version = '0.0.0';
