import {
  type AdapterCalls,
  type AdapterOptions,
  currentSessionId,
  noteTexts,
  type RecordOnlyOptions,
  refuseGuard,
  traceparentOf,
} from '@actlog/recorder/adapter';
import type { AnyExportedSpan, ObservabilityExporter, TracingEvent } from '@mastra/core/observability';
import { currentScope } from '../call-scope.ts';
import { mastraCalls } from '../mastra-calls.ts';
import { type RecordedCalls, recordedCalls } from '../recorded-calls.ts';
import { sessionsOfTraces, userContents } from '../session.ts';
import { locate, ranTool, type SpanLocation, spanLocation, toolSpan } from './span-location.ts';

/**
 * Creates the exporter behind `actlog.exporter()`. Records only, because a span reports what has already happened.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function recordSpans(options: RecordOnlyOptions = {}): ObservabilityExporter {
  refuseGuard(options, 'hooks: actlog({ guard })');
  return new SpanRecorder(options);
}

class SpanRecorder implements ObservabilityExporter {
  readonly name = 'actlog';
  readonly #calls: AdapterCalls;
  readonly #recorded: RecordedCalls;
  readonly #spans = new OpenSpans();

  constructor(options: AdapterOptions) {
    this.#calls = mastraCalls(options);
    this.#recorded = recordedCalls(this.#calls.recorder);
  }

  async exportTracingEvent({ type, exportedSpan }: TracingEvent): Promise<void> {
    // Mastra has these names in an enum. Only its type is imported, so that hooks need no module of it at run time.
    if (type === ('span_started' as typeof type)) this.#start(exportedSpan);
    if (type === ('span_ended' as typeof type)) this.#end(exportedSpan);
  }

  /** Waits until all recorded events are delivered. */
  async flush(): Promise<void> {
    await this.#calls.recorder.flush();
  }

  /** Flushes too, without closing the recorder, which may be shared and is closed by its creator. */
  async shutdown(): Promise<void> {
    await this.#calls.recorder.flush();
  }

  #start(span: AnyExportedSpan): void {
    this.#spans.start(span);
    this.#findConversation(span);
    this.#rememberTexts(span);
    // A tool's span starts in the context of the hook before it.
    const scope = currentScope();
    if (!scope || scope.call.toolName !== ranTool(span)) return;
    scope.spanId ??= span.id;
    if (scope.spanId === span.id && scope.recordedBy.has(this.#recorded)) this.#recorded.takeSpan(span.id);
  }

  #end(span: AnyExportedSpan): void {
    const tool = toolSpan(span);
    if (tool && this.#calls.covers(tool.toolName) && this.#recorded.takeSpan(span.id)) {
      this.#recorded.rememberExported({ traceId: span.traceId, callId: tool.callId });
      const { conversation, ...location } = this.#locationOf(span);
      this.#calls.conversations.note(conversation, tool, location.sessionId);
      const traceparent = traceparentOf({ traceId: span.traceId, spanId: span.id, traceFlags: 1 });
      this.#calls.record({ ...tool, ...location, traceparent }, tool.outcome);
    }
    this.#spans.end(span);
  }

  /** Finds the session of a run without a thread that continues an earlier conversation. */
  #findConversation(span: AnyExportedSpan): void {
    const messages = conversationOf(span);
    const locations = [...this.#spans.around(span)];
    if (messages === undefined || locations.length > 1 || locate(locations).threadId !== undefined) return;
    if (sessionsOfTraces.get(span.traceId) !== undefined) return;
    const sessionId = this.#calls.conversations.sessionOf(messages, () => span.traceId);
    sessionsOfTraces.note(span.traceId, sessionId);
  }

  #locationOf(span: AnyExportedSpan) {
    const locations = [...this.#spans.around(span)];
    const { agentId, threadId } = locate(locations);
    return {
      agentId,
      conversation: locations.find(({ conversation }) => conversation !== undefined)?.conversation,
      sessionId: threadId ?? currentSessionId() ?? sessionsOfTraces.get(span.traceId) ?? span.traceId,
    };
  }

  /**
   * Remembers the messages of a run for argument origins, unless it is within a call: a model may have written them.
   */
  #rememberTexts(span: AnyExportedSpan): void {
    if (span.type !== 'agent_run' && span.type !== 'model_generation') return;
    noteTexts(this.#calls, () => {
      const locations = [...this.#spans.around(span)];
      if (locations.some(({ isCall }) => isCall)) return {};
      const { sessionId } = this.#locationOf(span);
      return { sessionId, user: userContents(span.input), system: [locations[0]?.instructions] };
    });
  }
}

/** Maximum number of running spans; one whose end is not reported is eventually forgotten. */
const maxOpen = 10_000;

/** Data of a span that others may start in. */
interface OpenSpan extends SpanLocation {
  readonly parentSpanId: string | undefined;
  /** Messages or the text that an agent run was started with. */
  readonly conversation?: unknown;
}

/**
 * Tracks running spans, because a tool's span does not name the agent that called it, or the one that delegated to that
 * agent.
 */
class OpenSpans {
  readonly #open = new Map<string, OpenSpan>();

  start(span: AnyExportedSpan): void {
    const { id, parentSpanId } = span;
    this.#open.set(id, { ...spanLocation(span), parentSpanId, conversation: conversationOf(span) });
    if (this.#open.size > maxOpen) this.#open.delete(this.#open.keys().next().value as string);
  }

  end({ id }: AnyExportedSpan): void {
    this.#open.delete(id);
  }

  /** Yields a span and its ancestors, starting with the innermost. */
  *around(span: AnyExportedSpan): Generator<SpanLocation & Pick<OpenSpan, 'conversation'>> {
    yield { ...spanLocation(span), conversation: conversationOf(span) };
    let { parentSpanId } = span;
    // Ancestors from outside might be cyclic.
    for (let depth = 0; parentSpanId !== undefined && depth < maxOpen; depth += 1) {
      const parent = this.#open.get(parentSpanId);
      if (!parent) return;
      yield parent;
      parentSpanId = parent.parentSpanId;
    }
  }
}

/** Returns the messages or the string that started an agent run; undefined for other spans. */
function conversationOf({ type, input }: AnyExportedSpan): unknown {
  if (type !== 'agent_run') return undefined;
  return (input as { readonly messages?: unknown } | null | undefined)?.messages ?? input;
}
