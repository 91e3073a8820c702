import { agentIn, type SeenCall, sessionIn } from '@actlog/tool-call/spans';
import type { ReceivedSpan } from './received-spans.ts';

/** Maximum number of enclosing calls that are compared with a call. */
const maxCallsAround = 100;

type Call = Pick<SeenCall, 'scope' | 'toolName'>;

/** Calls of a span and of those around it, innermost first. */
interface Calls {
  readonly call: Call;
  readonly outer: Calls | undefined;
}

/** Session and agent that a span or the nearest one around it states, and the calls of all of them. */
interface Surroundings {
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly calls: Calls | undefined;
}

/** A span, without its attributes, so that these need not stay in memory. */
interface Node {
  readonly parentKey: string | undefined;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly call: Call | undefined;
  surroundings: Surroundings | undefined;
}

const none: Surroundings = { sessionId: undefined, agentId: undefined, calls: undefined };

/** Spans of one request by their ids. Spans around them that arrive in another request are not known here. */
export class SpanTree {
  readonly #nodes = new Map<string, Node>();

  /** Adds a span. @param call - its tool call; undefined for another span */
  add(span: ReceivedSpan, call: Call | undefined): void {
    const key = keyOf(span.traceId, span.spanId);
    if (key === undefined) return;
    const parentKey = keyOf(span.traceId, span.parentId);
    const [sessionId, agentId] = [sessionIn(span), agentIn(span)];
    this.#nodes.set(key, { parentKey, sessionId, agentId, call, surroundings: undefined });
  }

  /** Returns the session and the agent that a span or the nearest span around it states. */
  surroundingsOf(span: ReceivedSpan): Omit<Surroundings, 'calls'> {
    return this.#surroundings(keyOf(span.traceId, span.spanId));
  }

  /** Yields the tool calls around a span, innermost first. */
  *callsAround(span: ReceivedSpan): Generator<Call, void> {
    let { calls } = this.#surroundings(keyOf(span.traceId, span.parentId));
    for (let count = 0; calls && count < maxCallsAround; count += 1) {
      yield calls.call;
      calls = calls.outer;
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

function within({ sessionId, agentId, call }: Node, outer: Surroundings): Surroundings {
  return {
    sessionId: sessionId ?? outer.sessionId,
    agentId: agentId ?? outer.agentId,
    calls: call ? { call, outer: outer.calls } : outer.calls,
  };
}

function keyOf(traceId: string | undefined, spanId: string | undefined): string | undefined {
  return traceId === undefined || spanId === undefined ? undefined : `${traceId}${spanId}`;
}
