import { type ActivityEvent, schemaVersion, toolCallCategory } from '@actlog/protocol';
import { ArgumentsHasher, noHash, toIdentifier, toResourceId } from '@actlog/tool-call';
import {
  agentIn,
  EmittedCalls,
  enclosingOf,
  isMcpSpan,
  isUnknownToolSpan,
  type SeenCall,
  scopeOf,
  sessionIn,
  spanOutcome,
  spanStatus,
  type ToolSpan,
  textOf,
  toolSpanOf,
} from '@actlog/tool-call/spans';
import { isoTime } from '../lib/iso-time.ts';
import { UnreadCounts, type UnreadReason, type UnreadSpans } from '../observability/unread-spans.ts';
import type { Turn } from '../tenant-turns.ts';
import { maxToolSpans } from './body-limits.ts';
import type { EncodedSpan } from './encoded-span.ts';
import { isNestedDeeper } from './is-nested-deeper.ts';
import { type ReceivedSpan, SpanReader } from './received-spans.ts';
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
  /** Spans of tools that are not, or not wholly, understood. */
  readonly unread: readonly UnreadSpans[];
}

/** A tool call of a span. Its arguments are hashed, and neither they nor the attributes are kept. */
interface HashedCall extends SeenCall, Pick<ReceivedSpan, 'spanId' | 'parentId' | 'resource'> {
  readonly spanId: string;
  readonly endedMs: number;
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
 * Creates the events of the tool spans of a request, by the rules of the adapter for OpenTelemetry.
 *
 * @param spans - spans, and undefined where other work should get a turn
 * @throws ApiError `VALIDATION_ERROR` for a field of a wrong type, `PAYLOAD_TOO_LARGE` for too many tool spans.
 */
export async function toolSpanEvents(
  spans: Iterable<EncodedSpan | undefined> | AsyncIterable<EncodedSpan>,
  turn: Turn,
): Promise<ToolSpanEvents> {
  const reader = new SpanReader();
  const tree = new SpanTree();
  const unread = new UnreadCounts();
  const calls: HashedCall[] = [];
  let sliceBeganMs = performance.now();
  for await (const encoded of spans) {
    if (encoded) {
      const span = reader.read(encoded);
      const tool = toolSpanOf(span);
      const call = tool ? await hashedCall(span, tool, unread) : undefined;
      tree.add(span, enclosingOf(span, call && tool));
      if (call) calls.push(call);
      if (!tool && isUnknownToolSpan(span)) unread.add(scopeOf(span), 'format');
      if (calls.length > maxToolSpans) {
        throw tooLarge(`The request has more than ${maxToolSpans} tool spans`);
      }
    }
    if (performance.now() - sliceBeganMs < sliceMs) continue;
    await turn();
    sliceBeganMs = performance.now();
  }
  const emitted = new EmittedCalls();
  const records = calls
    .filter((call) => !emitted.isReportedByAnother(call, tree.around(call)))
    .map((call) => ({ event: eventOf(call, tree), sourceMs: call.endedMs }));
  return { records, unread: unread.list() };
}

async function hashedCall(
  span: ReceivedSpan,
  tool: ToolSpan,
  unread: UnreadCounts,
): Promise<HashedCall | undefined> {
  const responseStatus = spanStatus(spanOutcome(span, tool));
  // A call that waits for a person has not failed, and runs again.
  if (responseStatus === null) return undefined;
  const { traceId, spanId, parentId, endedMs, resource } = span;
  const scope = scopeOf(span);
  if (traceId === undefined || spanId === undefined || endedMs === undefined) {
    unread.add(scope, traceId === undefined ? 'trace_id' : spanId === undefined ? 'span_id' : 'end_time');
    return undefined;
  }
  const problem = problemOfArguments(span, tool);
  if (problem) unread.add(scope, problem);
  const { toolName, callId } = tool;
  const hash = problem || tool.arguments === undefined ? noHash : hasher.hash(tool.arguments);
  return {
    ...{ traceId, spanId, parentId, endedMs, resource, scope, toolName, callId, responseStatus },
    isMcp: isMcpSpan(span),
    argumentsHash: typeof hash === 'string' ? hash : await hash,
  };
}

function problemOfArguments({ longKeys }: ReceivedSpan, tool: ToolSpan): UnreadReason | undefined {
  if (tool.arguments !== undefined) {
    return isNestedDeeper(tool.arguments, maxArgumentsDepth) ? 'arguments_too_deep' : undefined;
  }
  if (longKeys.some((key) => /arg|input|param|prompt|\.content$/i.test(key))) return 'arguments_too_long';
  return tool.hasUnreadArguments ? 'arguments' : undefined;
}

function eventOf(call: HashedCall, tree: SpanTree): ActivityEvent {
  const { traceId, spanId, endedMs, resource, toolName, argumentsHash, responseStatus } = call;
  const { sessionId, agentId } = tree.surroundingsOf(call);
  const session = sessionId ?? sessionIn({ attributes: resource }) ?? traceId;
  const ofProgram = { attributes: resource, name: '', events: [], status: { code: 0 } };
  const agent = agentId ?? agentIn(ofProgram) ?? textOf(resource, 'service.name') ?? unknownAgent;
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
