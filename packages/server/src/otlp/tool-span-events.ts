import { type ActivityEvent, schemaVersion, toolCallCategory } from '@actlog/protocol';
import { ArgumentsHasher, noHash, toIdentifier, toResourceId } from '@actlog/tool-call';
import {
  EmittedCalls,
  scopeOf,
  sessionIn,
  spanOutcome,
  spanStatus,
  textOf,
  toolSpanOf,
} from '@actlog/tool-call/spans';
import { isoTime } from '../lib/iso-time.ts';
import type { Turn } from '../tenant-turns.ts';
import { maxToolSpans } from './body-limits.ts';
import { isNestedDeeper } from './is-nested-deeper.ts';
import { type ReceivedSpan, receivedSpans } from './received-spans.ts';
import { spanEventId } from './span-event-id.ts';
import { SpanTree } from './span-tree.ts';
import { tooLarge } from './too-large.ts';

/** An event of a span, with its time in Unix milliseconds. */
export interface SpanEventRecord {
  readonly event: ActivityEvent;
  readonly sourceMs: number;
}

/** Events of a request's tool spans. */
export interface ToolSpanEvents {
  readonly records: readonly SpanEventRecord[];
  /** Number of tool spans that cannot be recorded, by the reason. */
  readonly rejected: ReadonlyMap<string, number>;
}

/** A tool call of a span. Its arguments are hashed, and not kept. */
interface HashedCall {
  readonly span: ReceivedSpan;
  readonly toolName: string;
  readonly callId: string | undefined;
  readonly argumentsHash: string;
  readonly responseStatus: number;
}

/** Agent of a program that states neither an agent nor a service, as the SDKs of OpenTelemetry name it. */
const unknownAgent = 'unknown_service';

/** Maximum nesting of arguments that are hashed. Beyond it, a few bytes would take much processor time. */
const maxArgumentsDepth = 100;

/** Time after which other work gets a turn, in milliseconds. */
const sliceMs = 1;

const hasher = new ArgumentsHasher();

/**
 * Creates the events of the tool spans of a decoded request, by the rules of the adapter for OpenTelemetry.
 *
 * @throws ApiError `VALIDATION_ERROR` for a field of a wrong type, `PAYLOAD_TOO_LARGE` for too many tool spans.
 */
export async function toolSpanEvents(request: unknown, turn: Turn): Promise<ToolSpanEvents> {
  const tree = new SpanTree();
  const calls: HashedCall[] = [];
  let sliceBeganMs = performance.now();
  for (const span of receivedSpans(request)) {
    const call = await hashedCall(span);
    tree.add(span, call === undefined ? undefined : { scope: scopeOf(span), toolName: call.toolName });
    if (call) calls.push(call);
    if (calls.length > maxToolSpans) throw tooLarge(`The request has more than ${maxToolSpans} tool spans`);
    if (performance.now() - sliceBeganMs < sliceMs) continue;
    await turn();
    sliceBeganMs = performance.now();
  }
  return recordsOf(calls, tree);
}

async function hashedCall(span: ReceivedSpan): Promise<HashedCall | undefined> {
  const tool = toolSpanOf(span);
  const responseStatus = tool && spanStatus(spanOutcome(span, tool));
  // A call that waits for a person has not failed, and runs again.
  if (tool === undefined || typeof responseStatus !== 'number') return undefined;
  const isHashed = tool.arguments !== undefined && !isNestedDeeper(tool.arguments, maxArgumentsDepth);
  const hash = isHashed ? hasher.hash(tool.arguments) : noHash;
  return {
    span,
    toolName: tool.toolName,
    callId: tool.callId,
    argumentsHash: typeof hash === 'string' ? hash : await hash,
    responseStatus,
  };
}

function recordsOf(calls: readonly HashedCall[], tree: SpanTree): ToolSpanEvents {
  const emitted = new EmittedCalls();
  const records: SpanEventRecord[] = [];
  const rejected = new Map<string, number>();
  for (const call of calls) {
    const { span, toolName, callId } = call;
    const { traceId, spanId, endedMs } = span;
    if (traceId === undefined || spanId === undefined || endedMs === undefined) {
      const reason = problemOf(span);
      rejected.set(reason, (rejected.get(reason) ?? 0) + 1);
      continue;
    }
    const seen = { traceId, scope: scopeOf(span), toolName, callId };
    if (emitted.isReportedByAnother(seen, tree.callsAround(span))) continue;
    records.push({ event: eventOf(call, tree, traceId, spanId, endedMs), sourceMs: endedMs });
  }
  return { records, rejected };
}

function problemOf({ traceId, spanId }: ReceivedSpan): string {
  if (traceId === undefined) return 'traceId must be 16 bytes, not all zero';
  if (spanId === undefined) return 'spanId must be 8 bytes, not all zero';
  return 'endTimeUnixNano must be a time in nanoseconds';
}

function eventOf(
  { span, toolName, argumentsHash, responseStatus }: HashedCall,
  tree: SpanTree,
  traceId: string,
  spanId: string,
  endedMs: number,
): ActivityEvent {
  const { sessionId, agentId } = tree.surroundingsOf(span);
  const { resource } = span;
  const session = sessionId ?? sessionIn({ attributes: resource }) ?? traceId;
  const agent =
    agentId ?? textOf(resource, 'gen_ai.agent.id', 'gen_ai.agent.name', 'service.name') ?? unknownAgent;
  return {
    eventId: spanEventId(traceId, spanId),
    agentId: toResourceId(agent, unknownAgent),
    sessionId: toResourceId(session, traceId),
    sourceTimestamp: isoTime(endedMs),
    category: toolCallCategory,
    schemaVersion,
    payload: { toolName: toIdentifier(toolName, 'unknown'), argumentsHash, responseStatus },
  };
}
