import { isDelegation } from '../delegation.ts';

/** Location of a span. */
export interface SpanLocation {
  /** Agent, if the span is an agent run. */
  readonly agentId: string | undefined;
  readonly threadId: string | undefined;
  /** `true` if the span is a delegation to another agent. */
  readonly isDelegation: boolean;
  /** `true` if the span is a call of a tool. */
  readonly isCall: boolean;
  /** Instructions, if the span is an agent run. */
  readonly instructions: string | undefined;
}

/** Properties of a span, running or exported, that determine its location. */
export interface LocatedSpan {
  readonly type?: string;
  readonly entityId?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly attributes?: object | undefined;
}

/** Returns the location of a span. */
export function spanLocation({ type, entityId, metadata, attributes }: LocatedSpan): SpanLocation {
  const threadId = metadata?.threadId;
  const isRun = type === 'agent_run';
  const { instructions } = (attributes ?? {}) as { readonly instructions?: unknown };
  return {
    agentId: isRun ? entityId : undefined,
    threadId: typeof threadId === 'string' && threadId !== '' ? threadId : undefined,
    isDelegation: type === 'tool_call' && entityId !== undefined && isDelegation(entityId),
    isCall: type?.endsWith('tool_call') ?? false,
    instructions: isRun && typeof instructions === 'string' ? instructions : undefined,
  };
}

/**
 * Returns the agent and the thread of code inside the given spans. Mastra gives each delegation its own thread; the
 * delegating agent's thread is used.
 *
 * @param around - starting with the innermost
 */
export function locate(around: Iterable<SpanLocation>): Pick<SpanLocation, 'agentId' | 'threadId'> {
  let agentId: string | undefined;
  let threadId: string | undefined;
  for (const location of around) {
    agentId ??= location.agentId;
    threadId = location.isDelegation ? location.threadId : (threadId ?? location.threadId);
  }
  return { agentId, threadId };
}
