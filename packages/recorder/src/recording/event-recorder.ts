import { createHash, randomUUID } from 'node:crypto';
import type { ArgumentOrigins } from '@actlog/protocol';
import {
  defaultResponseStatus,
  isResponseStatus,
  type ResponseStatusMapping,
  responseStatuses,
  type ToolOutcome,
  toIdentifier,
  toResourceId,
  unreadableStatus,
} from '@actlog/tool-call';
import { type OriginKey, originKey, QueuedEvent, withTraceparent } from '../delivery/session-queues.ts';
import {
  createEventId,
  type EventFields,
  type EventHead,
  eventBody,
  isoTimestamp,
  originsBody,
  type SealFields,
  sealBody,
  sendablePlace,
  subagentBody,
} from '../events/event.ts';
import type { CallPlace, ToolCall } from '../events/tool-call.ts';
import { ActionDeniedError } from '../guard/action-denied-error.ts';
import { ignoreRejection } from '../lib/timers.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import type { Reporter } from '../reporting/reporter.ts';

/** Dependencies of an {@link EventRecorder}. */
export interface EventRecorderOptions {
  readonly agentId: string;
  readonly agentVersion: string | undefined;
  readonly framework: string | undefined;
  readonly sdk: string | undefined;
  /** Undefined if no service is configured. */
  readonly outbox: Pick<Outbox, 'add'> | undefined;
  readonly reporter: Reporter;
  /** Facts that the service does not take. Default: it takes all. */
  readonly refusals?: FactRefusals | undefined;
  /** `true` to seal sessions. Default: false. */
  readonly seals?: boolean | undefined;
  /** Called after every event. */
  readonly onRecorded: () => void;
}

/** Origin of the call in an event. */
export type EventSource = Pick<ToolCall, 'agentId' | 'toolName' | 'framework' | 'sdk'>;

/** Facts about the call in an event. */
interface EventFacts
  extends Pick<EventFields, 'argumentsHash' | 'sessionId' | 'responseStatus' | 'sourceTimestamp'> {
  /** W3C `traceparent` of the call; undefined for none. */
  readonly traceparent?: string | undefined;
}

/** Priority and trace of an event in the outbox. */
interface DeliveryFacts extends Pick<EventFacts, 'traceparent'> {
  /** `true` if it is dropped last. Default: `false`. */
  readonly isImportant?: boolean;
}

/** Content of an `argument_origins` event about a call. */
interface OriginsFacts {
  readonly callEventId: string;
  readonly sessionId: string;
  readonly sourceTimestamp: string;
  readonly origins: ArgumentOrigins;
  /** `true` if user text is known. */
  readonly userText: boolean;
}

/** Creates valid events and adds them to the outbox. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #originKeys = new Map<string, OriginKey>();
  readonly #seals: SessionSeals<EventSource> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    if (options.seals) this.#seals = new SessionSeals((seal) => this.#addSeal(seal));
  }

  /** Adds the event of category `tool_api` about a call. */
  add(eventId: string, nowMs: number, source: EventSource, facts: EventFacts): void {
    if (!this.#options.outbox) return;
    const responseStatus = this.#sendableStatus(facts.responseStatus);
    const head = this.#head(eventId, source, facts);
    const body = eventBody({
      ...facts,
      ...head,
      responseStatus,
      toolName: toIdentifier(source.toolName, 'unknown'),
    });
    this.#addSealed(nowMs, source, head, body, { isImportant: responseStatus >= 400, ...facts });
    this.#options.onRecorded();
  }

  /** Adds the event of category `argument_origins` about a call. */
  addOrigins(nowMs: number, source: EventSource, about: OriginsFacts): void {
    if (!this.#options.outbox) return;
    const head = this.#head(createEventId(nowMs), source, about);
    const payload = {
      eventId: about.callEventId,
      toolName: toIdentifier(source.toolName, 'unknown'),
      origins: about.origins,
      ...(about.userText && { userText: true }),
    };
    this.#addSealed(nowMs, source, head, originsBody({ ...head, payload }));
  }

  /** Adds the event of category `subagent_call` about a call, if its agent runs inside another or is a subagent. */
  addPlace(
    nowMs: number,
    source: EventSource,
    about: Omit<OriginsFacts, 'origins' | 'userText'>,
    place: CallPlace,
  ): void {
    const { outbox, refusals } = this.#options;
    const sendable = sendablePlace(place);
    if (!outbox || !sendable || refusals?.ofEvents('subagents')) return;
    const head = this.#head(createEventId(nowMs), source, about);
    const toolName = toIdentifier(source.toolName, 'unknown');
    const payload = { eventId: about.callEventId, toolName, ...sendable };
    this.#addSealed(nowMs, source, head, subagentBody({ ...head, payload }));
  }

  /** Adds an event of category `session_seal` for each session whose latest events have none. */
  seal(isLast: boolean): void {
    this.#seals?.sealAll(isLast);
  }

  /** Adds a seal; {@link SessionSeals} decides when. */
  #addSeal({ sessionId, agentId, source, payload }: Seal<EventSource>): void {
    if (this.#options.refusals?.ofEvents('seals')) return;
    const nowMs = Date.now();
    const head = { eventId: createEventId(nowMs), sessionId, agentId, sourceTimestamp: isoTimestamp(nowMs) };
    this.#queue(nowMs, source, head, sealBody({ ...head, payload }));
  }

  #head(eventId: string, source: EventSource, about: Pick<EventFacts, 'sessionId' | 'sourceTimestamp'>) {
    return {
      eventId,
      sessionId: toResourceId(about.sessionId, 'session'),
      agentId: toResourceId(source.agentId ?? this.#options.agentId, 'agent'),
      sourceTimestamp: about.sourceTimestamp,
    };
  }

  /** Adds an event that seals count. */
  #addSealed(
    nowMs: number,
    source: EventSource,
    head: EventHead,
    body: string,
    delivery: DeliveryFacts = {},
  ): void {
    this.#queue(nowMs, source, head, body, delivery);
    const { eventId, sessionId, agentId } = head;
    this.#seals?.add(eventId, { sessionId, agentId, source });
  }

  #queue(
    nowMs: number,
    source: EventSource,
    head: EventHead,
    body: string,
    { isImportant = false, traceparent }: DeliveryFacts = {},
  ): void {
    const { eventId, sessionId } = head;
    const origin = this.#originKey(source.framework, source.sdk);
    const originKey = traceparent === undefined ? origin : withTraceparent(origin, traceparent);
    this.#options.outbox?.add(new QueuedEvent({ eventId, sessionId, isImportant, body, originKey }), nowMs);
  }

  /** Replaces a status that is not JSON-serializable or that the service would reject. */
  #sendableStatus(status: unknown): number {
    if (isResponseStatus(status)) return status;
    const problem = `responseStatus must be a 32-bit integer, got ${describe(status)}; recorded 500 instead.`;
    this.#options.reporter.failed('response-status', new TypeError(problem));
    return responseStatuses.threw;
  }

  #originKey(framework = this.#options.framework ?? '', sdk = this.#options.sdk ?? ''): OriginKey {
    const name = `${framework}\n${sdk}`;
    let key = this.#originKeys.get(name);
    if (key === undefined) {
      const { agentVersion } = this.#options;
      key = originKey({ framework: framework || undefined, sdk: sdk || undefined, agentVersion });
      this.#originKeys.set(name, key);
    }
    return key;
  }
}

function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
}

/** Finds the status of a call's outcome: by the call's mapping, the recorder's, then the table of the README. */
export class CallStatus {
  readonly #mapping: ResponseStatusMapping | undefined;
  readonly #reporter: Reporter;

  /** @param mapping - the recorder's mapping */
  constructor(mapping: ResponseStatusMapping | undefined, reporter: Reporter) {
    this.#mapping = mapping;
    this.#reporter = reporter;
  }

  /** Returns the status; `null` if the call is not recorded. Never throws. */
  of(call: ToolCall, outcome: ToolOutcome): number | null {
    try {
      return this.#mapped(call, outcome);
    } catch {
      return unreadableStatus(outcome); // a getter of the call threw
    }
  }

  #mapped(call: ToolCall, outcome: ToolOutcome): number | null {
    for (const mapping of [call.responseStatusOf, this.#mapping]) {
      try {
        const status: unknown = mapping?.(outcome);
        if (status === null || isResponseStatus(status)) return status;
        if (status !== undefined) this.#mappingFailed(status);
      } catch (error) {
        this.#reporter.failed('mapping', new Error('A status mapping threw.', { cause: error }));
      }
    }
    return defaultResponseStatus(outcome, call.signal);
  }

  /** Reports a mapping that returned an invalid status. */
  #mappingFailed(returned: unknown): void {
    ignoreRejection(returned);
    const problem =
      'A status mapping returned an invalid status: return a 32-bit integer, undefined or null.';
    this.#reporter.failed('mapping', new TypeError(problem));
  }
}

/** Returns the status of a call that did not run: denied, or given up by the caller for this reason. */
export function statusOfRefusal(reason: unknown): number {
  try {
    if (ActionDeniedError.isInstance(reason)) return responseStatuses.denied;
    const isTimeout = (reason as { name?: unknown } | undefined)?.name === 'TimeoutError';
    return isTimeout ? responseStatuses.timedOut : responseStatuses.aborted;
  } catch {
    return responseStatuses.aborted; // a getter of the reason threw
  }
}

/** Events of one session between two seals, at most. A seal of that many ids has about 4 kB. */
const maxUnsealed = 100;

/** Sessions in memory, at most. Beyond, the session that had no event for the longest time gets its last seal. */
const maxSessions = 1000;

/** A session in which events are recorded, and the author of the latest one, in whose name the seal is sent. */
interface SealedPlace<Source> {
  readonly sessionId: string;
  readonly agentId: string;
  readonly source: Source;
}

/** A seal to record. */
interface Seal<Source> extends SealedPlace<Source> {
  readonly payload: SealFields['payload'];
}

interface OpenSession<Source> {
  readonly sealer: string;
  count: number;
  chain: Buffer;
  unsealed: string[];
  place: SealedPlace<Source>;
}

/**
 * Decides when the sessions of a recorder are sealed: after each {@link maxUnsealed} events, and when the recorder is
 * flushed or closed. `checkSeals` of `@actlog/log` compares the seals with the record.
 */
class SessionSeals<Source> {
  readonly #record: (seal: Seal<Source>) => void;
  /** By id; the session with the latest event is last. */
  readonly #sessions = new Map<string, OpenSession<Source>>();

  /** @param record - records the event of a seal */
  constructor(record: (seal: Seal<Source>) => void) {
    this.#record = record;
  }

  /** Adds a recorded event to its session, and seals the session if enough events have none. */
  add(eventId: string, place: SealedPlace<Source>): void {
    const { sessionId } = place;
    const session = this.#sessions.get(sessionId) ?? newSession(place);
    session.chain = createHash('sha256').update(session.chain).update(eventId, 'utf8').digest();
    session.count += 1;
    session.unsealed.push(eventId);
    session.place = place;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    if (session.unsealed.length >= maxUnsealed) this.#seal(session, false);
    if (this.#sessions.size > maxSessions) this.#forgetOldest();
  }

  /**
   * Seals the sessions with events since their last seal.
   *
   * @param isLast - `true` at the end of the recorder: every session gets its last seal, and is forgotten
   */
  sealAll(isLast: boolean): void {
    const sessions = [...this.#sessions.values()];
    if (isLast) this.#sessions.clear();
    for (const session of sessions) if (isLast || session.unsealed.length > 0) this.#seal(session, isLast);
  }

  #forgetOldest(): void {
    for (const [id, session] of this.#sessions) {
      this.#sessions.delete(id);
      this.#seal(session, true);
      return;
    }
  }

  #seal(session: OpenSession<Source>, isLast: boolean): void {
    const { sealer, count, chain, unsealed, place } = session;
    session.unsealed = [];
    this.#record({
      ...place,
      payload: { sealer, count, eventIds: unsealed, chain: chain.toString('hex'), isLast },
    });
  }
}

function newSession<Source>(place: SealedPlace<Source>): OpenSession<Source> {
  return { sealer: randomUUID(), count: 0, chain: Buffer.alloc(32), unsealed: [], place };
}
