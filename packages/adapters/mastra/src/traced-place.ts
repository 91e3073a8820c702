import { isDelegation } from './delegation.ts';

/** What a span tells of where it is. */
export interface TracedPlace {
  /** The agent, where the span is the run of one. */
  readonly agentId: string | undefined;
  readonly threadId: string | undefined;
  /** Whether the span is that of an agent handing something over to another. */
  readonly isDelegation: boolean;
}

/** The parts of a span, under way or exported, that tell where it is. */
export interface LocatedSpan {
  readonly type?: string;
  readonly entityId?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** Where a span is. */
export function tracedPlace({ type, entityId, metadata }: LocatedSpan): TracedPlace {
  const threadId = metadata?.threadId;
  return {
    agentId: type === 'agent_run' ? entityId : undefined,
    threadId: typeof threadId === 'string' && threadId !== '' ? threadId : undefined,
    isDelegation: type === 'tool_call' && entityId !== undefined && isDelegation(entityId),
  };
}

/**
 * The agent and the thread of what is within these spans. Mastra gives each delegation a thread of its own; the thread
 * is that of whoever delegates.
 *
 * @param around - from the innermost on
 */
export function locate(around: Iterable<TracedPlace>): Pick<TracedPlace, 'agentId' | 'threadId'> {
  let agentId: string | undefined;
  let threadId: string | undefined;
  for (const place of around) {
    agentId ??= place.agentId;
    threadId = place.isDelegation ? place.threadId : (threadId ?? place.threadId);
  }
  return { agentId, threadId };
}
