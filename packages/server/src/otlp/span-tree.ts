import { agentIn, type Enclosing, numberedAgentIn, sessionIn } from '@actlog/tool-call/spans';
import type { ReceivedSpan } from './received-spans.ts';

type Ids = Pick<ReceivedSpan, 'traceId' | 'spanId' | 'parentId'>;

/** Maximum number of enclosing spans that are compared with a call. */
const maxAround = 100;

/** A span of a tool or an agent, and those around it. */
interface Around {
  readonly span: Enclosing;
  readonly outer: Around | undefined;
}

/** Session and agent that a span or the nearest one around it states, and all of them that are of tools or agents. */
interface Surroundings {
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  /** Generated id of the agent. */
  readonly numberedAgentId: string | undefined;
  readonly around: Around | undefined;
}

/** A span, without its attributes, so that these need not stay in memory. */
interface Node {
  readonly parentKey: string | undefined;
  readonly stated: Omit<Surroundings, 'around'>;
  readonly span: Enclosing | undefined;
  surroundings: Surroundings | undefined;
}

const none: Surroundings = {
  sessionId: undefined,
  agentId: undefined,
  numberedAgentId: undefined,
  around: undefined,
};

/** Spans of one request by their ids. Spans around them that arrive in another request are not known here. */
export class SpanTree {
  readonly #nodes = new Map<string, Node>();

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
    this.#nodes.set(key, { parentKey, stated, span: meaning, surroundings: undefined });
  }

  /** Returns the session and the agent that a span or the nearest span around it states. */
  surroundingsOf(span: Ids): Pick<Surroundings, 'sessionId' | 'agentId'> {
    const { sessionId, agentId, numberedAgentId } = this.#surroundings(keyOf(span.traceId, span.spanId));
    return { sessionId, agentId: agentId ?? numberedAgentId };
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
    agentId: stated.agentId ?? outer.agentId,
    numberedAgentId: stated.numberedAgentId ?? outer.numberedAgentId,
    around: span ? { span, outer: outer.around } : outer.around,
  };
}

function keyOf(traceId: string | undefined, spanId: string | undefined): string | undefined {
  return traceId === undefined || spanId === undefined ? undefined : `${traceId}${spanId}`;
}
