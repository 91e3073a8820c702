import { randomUUID } from 'node:crypto';
import {
  type AdapterCalls,
  type HookedCall,
  processWidePerOwner,
  SessionsById,
} from '@actlog/recorder/adapter';
import { currentScope } from './call-scope.ts';
import type { Invocation, LiveSpan } from './invocation.ts';
import { locate, type SpanLocation, spanLocation } from './tracing/span-location.ts';
import { workflowRunId } from './workflow-runs.ts';

/** Generated sessions of runs without a thread, by their request context. */
const generatedSession = processWidePerOwner('@actlog/mastra/sessions', randomUUID);

/** Sessions of runs that continue an earlier conversation, by their trace. */
export const sessionsOfTraces: SessionsById = new SessionsById('@actlog/mastra/traces');

/**
 * Returns the session of a call. In order of precedence: that of the delegating agent, because Mastra gives each
 * delegation its own thread; the thread; that of the surrounding call or `session.run`; that of an earlier call of the
 * conversation; the run of the workflow; one for the run.
 */
export function sessionOf(
  { requestContext, tracingContext, messages }: Invocation,
  { conversations }: AdapterCalls,
): string | undefined {
  const span = tracingContext?.currentSpan;
  const memory = requestContext?.get('MastraMemory') as { thread?: { id?: unknown } } | undefined;
  const known =
    currentScope()?.delegatedSession ??
    locate(around(span)).threadId ??
    text(memory?.thread?.id) ??
    text(requestContext?.get('mastra__threadId'));
  if (known !== undefined) return known;
  // The methods for older models, such as `generateLegacy`, pass only the messages to hooks.
  const runId = () =>
    workflowRunId() ?? text(span?.traceId) ?? (requestContext && generatedSession(requestContext));
  const sessionId = conversations.sessionOf(messages, runId);
  sessionsOfTraces.note(span?.traceId, sessionId);
  return sessionId;
}

/** Notes a call of an agent, so that later turns of its conversation are recognized. */
export function noteInConversation(calls: AdapterCalls, call: HookedCall, messages: unknown): void {
  const { toolName, callId, sessionId } = call;
  calls.conversations.note(messages, { toolName, callId }, sessionId);
}

/** Returns the agent in whose run a tool runs, if it is traced. */
export function tracedAgent({ tracingContext }: Invocation): string | undefined {
  return locate(around(tracingContext?.currentSpan)).agentId;
}

/** Yields the locations of a span and its ancestors, starting with the innermost. */
export function* around(innermost: LiveSpan | undefined): Generator<SpanLocation> {
  for (let span = innermost; span; span = span.parent) yield spanLocation(span);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
