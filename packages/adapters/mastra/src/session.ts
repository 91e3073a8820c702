import { randomUUID } from 'node:crypto';
import {
  type AdapterCalls,
  type HookedCall,
  noteTexts,
  processWidePerOwner,
  SessionsById,
} from '@actlog/recorder/adapter';
import { currentScope, instructionsOf } from './call-scope.ts';
import { workflowRunId } from './mastra-calls.ts';
import { type LocatedSpan, locate, type SpanLocation, spanLocation } from './tracing/span-location.ts';

/** An object with which a tool may suspend itself. */
export interface Suspending {
  readonly suspend?: (...args: unknown[]) => unknown;
}

/** Detects whether a call is suspended, because a suspended tool returns undefined like one that has ended. */
export class SuspensionWatch {
  #isSuspended = false;
  readonly #undo: (() => void)[] = [];

  /** @param given - all objects with which a tool may suspend itself; they keep working */
  constructor(...given: (Suspending | undefined)[]) {
    for (const each of given) if (each?.suspend) this.#watch(each, each.suspend);
  }

  /** `true` if the tool has been suspended. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Restores the objects, unless they were changed again in the meantime. */
  end(): void {
    for (const undo of this.#undo) undo();
  }

  #watch(given: Suspending, suspend: NonNullable<Suspending['suspend']>): void {
    const watched = (...args: unknown[]) => {
      this.#isSuspended = true;
      return suspend.apply(given, args);
    };
    Reflect.set(given, 'suspend', watched);
    this.#undo.push(() => {
      if (given.suspend === watched) Reflect.set(given, 'suspend', suspend);
    });
  }
}

/** Generated sessions of runs without a thread, by their request context. */
const generatedSession = processWidePerOwner('@actlog/mastra/sessions', randomUUID);

/** Sessions of runs that continue an earlier conversation, by their trace. */
export const sessionsOfTraces: SessionsById = new SessionsById('@actlog/mastra/traces');

/**
 * Returns the session of a call, from the first source that has one:
 *
 * 1. the delegating agent, because Mastra gives each delegation its own thread
 * 2. the thread
 * 3. the surrounding call or `session.run`
 * 4. an earlier call of the conversation
 * 5. the run of the workflow
 * 6. the run of the agent
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

/** Remembers a call of an agent, so that later turns of its conversation are recognized. */
export function rememberInConversation(calls: AdapterCalls, call: HookedCall, messages: unknown): void {
  const { toolName, callId, sessionId } = call;
  calls.conversations.note(messages, { toolName, callId }, sessionId);
}

/** Returns the agent in whose run a tool runs, if it is traced. */
export function tracedAgent({ tracingContext }: Invocation): string | undefined {
  return locate(around(tracingContext?.currentSpan)).agentId;
}

/** Yields the locations of a span and its ancestors, starting with the innermost. */
function* around(innermost: LiveSpan | undefined): Generator<SpanLocation> {
  for (let span = innermost; span; span = span.parent) yield spanLocation(span);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A running span. */
interface LiveSpan extends LocatedSpan {
  readonly id?: string;
  readonly traceId?: string;
  readonly parent?: LiveSpan;
}

/** Context that Mastra passes to a tool beside its input, limited to what identifies a call. */
export interface Invocation extends Suspending {
  readonly toolCallId?: string;
  readonly messages?: object | undefined;
  readonly abortSignal?: AbortSignal;
  readonly requestContext?: { get(key: string): unknown };
  readonly tracingContext?: { readonly currentSpan?: LiveSpan };
}

/** A message of any version of Mastra. */
interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/**
 * Remembers the messages that started an agent's run, for argument origins.
 *
 * @param call - call of a tool by the agent
 * @param messages - conversation of the agent
 */
export function rememberRun(
  calls: AdapterCalls,
  { sessionId, agentId }: HookedCall,
  messages: unknown,
  { requestContext, tracingContext }: Invocation,
): void {
  noteTexts(calls, () => {
    const locations = [...around(tracingContext?.currentSpan)];
    // The first may be the span of the call itself.
    if (locations.slice(1).some(({ isCall }) => isCall)) return {};
    const all = messagesOf(messages);
    // Mastra adds what its memory holds as further system messages, and models wrote that.
    const first = all[0]?.role === 'system' ? all.slice(0, 1) : [];
    const traced = locations.map(({ instructions }) => instructions);
    const system = [...contents(first), ...contents(instructionsOf(agentId, requestContext)), ...traced];
    return { sessionId, user: userContents(all), system };
  });
}

/** Returns the contents of the user's messages in a list, an object with a list, or a string. */
export function userContents(messages: unknown): unknown[] {
  if (typeof messages === 'string') return [messages];
  return contents(messagesOf(messages).filter((message) => message?.role === 'user'));
}

function messagesOf(messages: unknown): readonly (Message | null | undefined)[] {
  const list = (messages as { readonly messages?: unknown } | null | undefined)?.messages ?? messages;
  return Array.isArray(list) ? list : [];
}

/** Returns what each message says: a string or parts. Mastra's stored messages have their parts one level deeper. */
function contents(messages: readonly unknown[]): unknown[] {
  return messages.map((message) => {
    if (typeof message !== 'object' || message === null) return message;
    const { content } = message as { readonly content?: unknown };
    return (content as { readonly parts?: unknown } | null | undefined)?.parts ?? content;
  });
}
