import { randomUUID } from 'node:crypto';
import { conversationSession, processWidePerOwner } from '@actlog/recorder/adapter';
import type { Invocation, LiveSpan } from './invocation.ts';
import { currentPlace } from './place.ts';
import { locate, type TracedPlace, tracedPlace } from './traced-place.ts';

/** Sessions of runs that have no thread: a run has one request context. */
const madeUpFor = processWidePerOwner('@actlog/mastra/sessions', randomUUID);

/**
 * The session of a call: that of the agent who delegates to this one, since Mastra gives each delegation a thread of
 * its own; else the thread; else that of the surrounding call or `session.run`; else one for the run.
 */
export function sessionOf({ requestContext, tracingContext, messages }: Invocation): string | undefined {
  const span = tracingContext?.currentSpan;
  const memory = requestContext?.get('MastraMemory') as { thread?: { id?: unknown } } | undefined;
  return (
    currentPlace()?.delegatedSession ??
    locate(around(span)).threadId ??
    text(memory?.thread?.id) ??
    text(requestContext?.get('mastra__threadId')) ??
    conversationSession(undefined) ??
    text(span?.traceId) ??
    // The methods for older models, such as `generateLegacy`, tell hooks of the messages alone.
    (requestContext ? madeUpFor(requestContext) : conversationSession(messages))
  );
}

/** The agent in whose run a tool runs, as far as that is traced. */
export function tracedAgent({ tracingContext }: Invocation): string | undefined {
  return locate(around(tracingContext?.currentSpan)).agentId;
}

/** A span and those that it is within, from the innermost on. */
function* around(innermost: LiveSpan | undefined): Generator<TracedPlace> {
  for (let span = innermost; span; span = span.parent) yield tracedPlace(span);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
