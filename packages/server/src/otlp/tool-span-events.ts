import {
  type ActivityEvent,
  limits,
  schemaVersion,
  subagentCallCategory,
  toolCallCategory,
} from '@actlog/protocol';
import { ArgumentsHasher, noHash, toIdentifier, toResourceId, traceparentOf } from '@actlog/tool-call';
import {
  agentIn,
  EmittedCalls,
  type Enclosing,
  enclosingOf,
  innerOutcome,
  isMcpSpan,
  isUnknownToolSpan,
  numberedAgentIn,
  type SeenCall,
  scopeOf,
  sessionIn,
  spanOutcome,
  spanStatus,
  type ToolSpan,
  textOf,
  toolSpanOf,
} from '@actlog/tool-call/spans';
import { v5 } from 'uuid';
import { isoTime } from '../lib/iso-time.ts';
import type { Turn } from '../lib/tenant-turns.ts';
import { UnreadCounts, type UnreadReason, type UnreadSpans } from '../observability/unread-spans.ts';
import { type EncodedSpan, maxToolSpans, tooLarge } from './encoded-span.ts';
import { type ReceivedSpan, SpanReader } from './received-spans.ts';

type Ids = Pick<ReceivedSpan, 'traceId' | 'spanId' | 'parentId'>;

/** Maximum number of enclosing spans that are compared with a call. */
const maxAround = 100;

/** A span of a tool or an agent, and those around it. */
interface Around {
  readonly span: Enclosing;
  readonly outer: Around | undefined;
}

/** Session and agents that a span or those around it state, and all of them that are of tools or agents. */
interface Surroundings {
  readonly sessionId: string | undefined;
  /** The agent, and those that it runs inside, nearest first, each once; empty if none is stated. */
  readonly agentIds: readonly string[];
  /** Generated id of the agent. */
  readonly numberedAgentId: string | undefined;
  readonly around: Around | undefined;
}

/** A span, without its attributes, so that these need not stay in memory. */
interface Node {
  readonly parentKey: string | undefined;
  readonly stated: Omit<Surroundings, 'around' | 'agentIds'> & { readonly agentId: string | undefined };
  readonly span: Enclosing | undefined;
  surroundings: Surroundings | undefined;
}

const none: Surroundings = {
  sessionId: undefined,
  agentIds: [],
  numberedAgentId: undefined,
  around: undefined,
};

/** Spans of one request by their ids. Spans around them that arrive in another request are not known here. */
class SpanTree {
  readonly #nodes = new Map<string, Node>();
  /** Statuses of calls that a span inside theirs states, by the keys of theirs. */
  readonly #statuses = new Map<string | undefined, number>();

  /** Adds a span. @param meaning - its meaning for the spans inside it */
  add(span: ReceivedSpan, meaning: Enclosing | undefined): void {
    const key = keyOf(span.traceId, span.spanId);
    if (key === undefined) return;
    const stated = {
      sessionId: sessionIn(span),
      agentId: agentIn(span),
      numberedAgentId: numberedAgentIn(span),
    };
    const parentKey = keyOf(span.traceId, span.parentId);
    const status = innerOutcome(span);
    if (status !== undefined) this.#statuses.set(parentKey, status);
    this.#nodes.set(key, { parentKey, stated, span: meaning, surroundings: undefined });
  }

  /** Returns the session and the agent that a span or the nearest span around it states, and the agents around that. */
  surroundingsOf(span: Ids) {
    const { sessionId, agentIds, numberedAgentId } = this.#surroundings(keyOf(span.traceId, span.spanId));
    const [agentId = numberedAgentId, ...parentAgentIds] = agentIds;
    return { sessionId, agentId, parentAgentIds };
  }

  /** Returns the status of the call of a span. */
  statusOf(call: Pick<HashedCall, 'traceId' | 'spanId' | 'responseStatus'>): number {
    return this.#statuses.get(keyOf(call.traceId, call.spanId)) ?? call.responseStatus;
  }

  /** Yields the spans of tools and agents around a span, innermost first. */
  *around(span: Ids): Generator<Enclosing, void> {
    let { around } = this.#surroundings(keyOf(span.traceId, span.parentId));
    for (let count = 0; around && count < maxAround; count += 1) {
      yield around.span;
      around = around.outer;
    }
  }

  /** Determines the surroundings from the outermost span inwards, each once. */
  #surroundings(innermost: string | undefined): Surroundings {
    const path: Node[] = [];
    let node = this.#nodes.get(innermost ?? '');
    while (node && !node.surroundings) {
      node.surroundings = none; // ends a cycle
      path.push(node);
      node = this.#nodes.get(node.parentKey ?? '');
    }
    let surroundings = node?.surroundings ?? none;
    for (const inner of path.reverse()) {
      surroundings = within(inner, surroundings);
      inner.surroundings = surroundings;
    }
    return surroundings;
  }
}

function within({ stated, span }: Node, outer: Surroundings): Surroundings {
  return {
    sessionId: stated.sessionId ?? outer.sessionId,
    agentIds: stated.agentId === undefined ? outer.agentIds : agentsWithin(stated.agentId, outer.agentIds),
    numberedAgentId: stated.numberedAgentId ?? outer.numberedAgentId,
    around: span ? { span, outer: outer.around } : outer.around,
  };
}

/** Returns an agent and those around it. Of too many, the outermost is kept, because people know it. */
function agentsWithin(agentId: string, around: readonly string[]): readonly string[] {
  const outer = around.filter((id) => id !== agentId);
  const isTooDeep = outer.length > limits.maxParentAgents;
  return [
    agentId,
    ...(isTooDeep ? [...outer.slice(0, limits.maxParentAgents - 1), ...outer.slice(-1)] : outer),
  ];
}

function keyOf(traceId: string | undefined, spanId: string | undefined): string | undefined {
  return traceId === undefined || spanId === undefined ? undefined : `${traceId}${spanId}`;
}

/** Namespace of the ids of events that are created from spans. */
const namespace = 'c1f3cc1c-5f9d-4a5e-9d59-0b7c3a1e9a57';

/**
 * Returns the id of a span's event: a UUID version 5 (RFC 9562, section 5.5) of the trace id and the span id, so that a
 * span that is sent again is the same event.
 */
function spanEventId(traceId: string, spanId: string): string {
  return v5(`${traceId}-${spanId}`, namespace);
}

/** An event of a span, with its time in Unix milliseconds. */
export interface SpanEventRecord {
  readonly event: ActivityEvent;
  readonly sourceMs: number;
  /** W3C `traceparent` of the span. */
  readonly traceparent: string | undefined;
  /** Agents around the agent of a call; empty for none. */
  readonly parentAgentIds: readonly string[];
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
    .flatMap((call): SpanEventRecord[] => {
      const parentAgentIds = tree
        .surroundingsOf(call)
        .parentAgentIds.map((id) => toResourceId(id, unknownAgent));
      const record = {
        event: eventOf(call, tree),
        sourceMs: call.endedMs,
        // A span that was exported was sampled.
        traceparent: traceparentOf({ ...call, traceFlags: 1 }),
        parentAgentIds,
      };
      return parentAgentIds.length === 0
        ? [record]
        : [record, { ...record, event: placeEvent(record, call) }];
    });
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
  const { traceId, spanId, endedMs, resource, toolName, argumentsHash } = call;
  const responseStatus = tree.statusOf(call);
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

/** Returns the event that names the agents around the agent of a call. */
function placeEvent(
  { event, parentAgentIds }: Pick<SpanEventRecord, 'event' | 'parentAgentIds'>,
  { traceId, spanId, toolName }: HashedCall,
): ActivityEvent {
  return {
    ...event,
    eventId: v5(`${traceId}-${spanId}-place`, namespace),
    category: subagentCallCategory,
    payload: { eventId: event.eventId, toolName: toIdentifier(toolName, 'unknown'), parentAgentIds },
  };
}

/** Returns `true` if a JSON value has more than `maxDepth` containers within each other. Does not recurse. */
function isNestedDeeper(value: unknown, maxDepth: number): boolean {
  let level: readonly object[] = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= maxDepth) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
