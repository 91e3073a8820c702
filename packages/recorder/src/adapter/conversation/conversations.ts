import { createEventId } from '../../events/event.ts';
import { dropOldest } from '../../lib/linked-list.ts';
import { processWide, processWidePerOwner } from '../../lib/process-wide.ts';
import { currentSessionId } from '../../recording/recorder-session.ts';
import type { AdapterOptions } from '../adapter-option-checks.ts';
import { callKeys, isOfUser, isUnique, keyOf, userDigest } from './past-calls.ts';

/** Number of ids remembered, newest first. The end of a conversation is not reported. */
const maxIds = 10_000;

/**
 * Sessions of conversations that continue by an id alone, such as the previous response's id. Shared by all copies of
 * an adapter in this process.
 */
export class SessionsById {
  readonly #sessions: () => Map<string, string>;

  /** @param name - name of the symbol on `globalThis` (`Symbol.for`) that stores them */
  constructor(name: string) {
    this.#sessions = processWide(name, () => new Map());
  }

  /** Returns the session recorded for an id. */
  get(id: string | null | undefined): string | undefined {
    return id ? this.#sessions().get(id) : undefined;
  }

  /** Records the session of an id, if both are known. */
  note(id: string | null | undefined, sessionId: string | undefined): void {
    if (!id || !sessionId) return;
    const sessions = this.#sessions();
    sessions.delete(id);
    sessions.set(id, sessionId);
    if (sessions.size > maxIds) sessions.delete(sessions.keys().next().value as string);
  }
}

/** Maximum length of the readable part, in characters. */
const maxName = 40;

/**
 * Creates the id of a session that has none. It starts with the name of the agent if there is one, such as
 * `support-agent-0199c3e2-…`, so that people recognize it in a list.
 *
 * @param agentName - name that the application gave the agent or the workflow
 */
export function newSessionId(agentName?: string): string {
  const words = agentName?.normalize('NFKC').match(/[\p{L}\p{N}_]+/gu) ?? [];
  const readable = words.join('-').slice(0, maxName);
  const id = createEventId(Date.now());
  return readable.isWellFormed() && readable !== '' ? `${readable}-${id}` : id;
}

/** Minimum number of calls remembered per recorder; the maximum is twice as many. The end of a chat is not reported. */
const maxCalls = 10_000;

/** Number of sessions remembered for a call that several conversations have. */
const maxSessions = 8;

/** A session that has a call. */
interface Owner {
  readonly sessionId: string;
  /** Turn of the conversation in which the call was made. */
  readonly turn: number;
}

/**
 * Sessions of past calls. Calls of several conversations may have the same key, if the model numbers its calls and the
 * users wrote the same.
 */
class CallSessions {
  readonly #owners = new Map<string, Owner[]>();
  /** Last turn of each session that has made a call. */
  readonly #turns = new Map<string, number>();

  /** Records the session of a call. */
  note(key: string, owner: Owner): void {
    const { sessionId, turn } = owner;
    const owners = this.#owners.get(key);
    if (owners === undefined) add(this.#owners, key, [owner]);
    else if (owners.at(-1)?.sessionId !== sessionId) {
      const others = owners.filter((other) => other.sessionId !== sessionId);
      this.#owners.set(key, [...others.slice(1 - maxSessions), owner]);
    }
    const latest = this.#turns.get(sessionId);
    if (latest === undefined) add(this.#turns, sessionId, turn);
    else if (latest < turn) this.#turns.set(sessionId, turn);
  }

  /**
   * Returns the session of a call. Of several sessions, returns the probable one, otherwise the only one that has not
   * continued yet; undefined if that is not unique, because one session must not contain calls of two people.
   *
   * @param probable - session from weaker evidence than a call; counts only if it has the call too
   */
  find(key: string, probable?: string): string | undefined {
    const owners = this.#owners.get(key) ?? [];
    if (owners.some(({ sessionId }) => sessionId === probable)) return probable;
    const waiting = owners.length > 1 ? owners.filter((owner) => this.#isLatest(owner)) : owners;
    return waiting.length === 1 ? waiting[0]?.sessionId : undefined;
  }

  #isLatest({ sessionId, turn }: Owner): boolean {
    return turn >= (this.#turns.get(sessionId) ?? 0);
  }
}

function add<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size > 2 * maxCalls) dropOldest(map, maxCalls);
}

/** Sessions of messages that frameworks returned; undefined for one that was returned in several sessions. */
const sessions = processWide(
  '@actlog/recorder/returned-messages',
  () => new WeakMap<object, string | undefined>(),
);

/**
 * Remembers the session of the messages that a framework returned for later turns.
 *
 * @param given - messages that the application passed, which do not count: it may pass them in several conversations
 */
export function noteReturned(given: unknown, returned: readonly unknown[], sessionId: string): void {
  const known: ReadonlySet<unknown> = new Set(Array.isArray(given) ? given : []);
  for (const message of returned) {
    if (typeof message !== 'object' || message === null || known.has(message)) continue;
    const isOfAnother = sessions().has(message) && sessions().get(message) !== sessionId;
    sessions().set(message, isOfAnother ? undefined : sessionId);
  }
}

/** Returns the session of the last message that a framework returned, while it is the same object. */
export function sessionOfReturned(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast((message) => sessions().has(message as object));
  return last === undefined ? undefined : sessions().get(last as object);
}

/** A tool call that follows on a conversation. */
export interface ConversationCall {
  readonly toolName: string;
  /** Id that the call will have in the messages of later turns, if it has one. */
  readonly callId: string | undefined;
}

/** Sessions of remembered calls, per recorder. */
const callSessions = processWidePerOwner('@actlog/recorder/call-sessions', () => new CallSessions());

/**
 * Sessions of conversations in frameworks that have no ids for them. A conversation is recognized by the tool calls
 * among its messages, so that it may be serialized and rebuilt between two turns, or converted to the format of another
 * framework.
 */
export class Conversations {
  readonly #recorder: object;
  readonly #agentId: string | undefined;
  /** The user's id for all calls. */
  readonly #fixedId: string | undefined;

  /**
   * @param recorder - recorder of the calls
   * @param options - the user's options: new ids start with `agentId`, and a string `sessionId` is the session of every
   * conversation
   */
  constructor(recorder: object, { agentId, sessionId }: Pick<AdapterOptions, 'agentId' | 'sessionId'> = {}) {
    this.#recorder = recorder;
    this.#agentId = agentId;
    this.#fixedId = typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
  }

  /**
   * Returns the session of a conversation, from the first source that has one:
   *
   * 1. the user's `sessionId`
   * 2. the surrounding `session.run`
   * 3. the turn, if the last user message is the same object
   * 4. a remembered call among the messages
   * 5. an earlier turn, if its user message or a message that the framework returned is the same object
   * 6. the framework's id
   * 7. a new id
   *
   * Errors thrown by getters of the messages do not reach the agent.
   *
   * @param messages - the conversation so far. If it is not a list of messages, there is no new id
   * @param ownId - returns an id of the framework that lasts for this turn at least
   */
  sessionOf(messages: unknown, ownId?: () => string | undefined): string | undefined {
    const surrounding = this.#fixedId ?? currentSessionId();
    if (surrounding !== undefined) return surrounding;
    try {
      return this.#sessionOfTurn(messages, ownId) ?? ownId?.();
    } catch {
      return ownId?.();
    }
  }

  /**
   * Remembers the session of a call, so that later turns of its conversation are recognized.
   *
   * @param messages - messages before the call, or the prompt that started the conversation; otherwise nothing is
   *   remembered
   */
  note(messages: unknown, { callId, toolName }: ConversationCall, sessionId: string | undefined): void {
    if (sessionId === undefined || this.#fixedId !== undefined) return;
    try {
      const turn = Turn.of(messages);
      if (!turn) return;
      const key = isUnique(callId) ? callId : keyOf(turn.digest, callId ?? toolName);
      callSessions(this.#recorder).note(key, { sessionId, turn: turn.count });
    } catch {
      // A getter of a message threw: later turns get another session.
    }
  }

  /**
   * Returns the session of an earlier turn from {@link Conversations.noteTurn}, for frameworks that copy messages.
   *
   * @param messages - the conversation, as the application passed it to the framework
   */
  earlierSessionOf(messages: unknown): string | undefined {
    try {
      return Turn.of(messages)?.earlierSession;
    } catch {
      return undefined;
    }
  }

  /** Remembers the session of a turn, so that later turns with the same message object are recognized. */
  noteTurn(messages: unknown, sessionId: string): void {
    try {
      const turn = Turn.of(messages);
      if (turn) turn.sessionId = sessionId;
    } catch {
      // A getter of a message threw: later turns get another session.
    }
  }

  /**
   * Remembers the messages that a framework returns for later turns of a conversation, in case they are passed as the
   * same objects.
   *
   * @param messages - the conversation before; an application may pass its messages in other conversations too
   */
  noteReturned(messages: unknown, returned: unknown, sessionId: string | undefined): void {
    if (sessionId === undefined || this.#fixedId !== undefined || !Array.isArray(returned)) return;
    noteReturned(messages, returned, sessionId);
  }

  #sessionOfTurn(messages: unknown, ownId: (() => string | undefined) | undefined): string | undefined {
    const turn = Array.isArray(messages) ? Turn.of(messages) : undefined;
    if (!turn || turn.sessionId !== undefined) return turn?.sessionId;
    const begun = turn.earlierSession ?? sessionOfReturned(messages as unknown[]);
    turn.sessionId =
      this.#sessionOfCalls(messages as unknown[], begun) ?? begun ?? ownId?.() ?? newSessionId(this.#agentId);
    return turn.sessionId;
  }

  /**
   * Returns the session of the last remembered call.
   *
   * @param begun - session of a known message object; distinguishes conversations with the same calls
   */
  #sessionOfCalls(messages: readonly unknown[], begun: string | undefined): string | undefined {
    const sessions = callSessions(this.#recorder);
    for (const key of callKeys(messages).reverse()) {
      const sessionId = sessions.find(key, begun);
      if (sessionId !== undefined) return sessionId;
    }
    return undefined;
  }
}

/** Turns by the last message of the user, which stays the same object while a turn adds messages. */
const turns = processWide('@actlog/recorder/turns', () => new WeakMap<object, Turn>());

/** A turn of a conversation: from a message of the user to the next. */
class Turn {
  /** Messages up to the user's, which starts the turn. */
  readonly messages: readonly unknown[] | string;
  /** Session of the turn, once it is known. */
  sessionId: string | undefined;
  #digest: string | undefined;
  #count: number | undefined;

  private constructor(messages: readonly unknown[] | string) {
    this.messages = messages;
  }

  /** Returns the turn that messages end with or that a prompt starts; undefined for anything else. */
  static of(messages: unknown): Turn | undefined {
    if (typeof messages === 'string') return new Turn(messages);
    if (!Array.isArray(messages)) return undefined;
    const start = startOf(messages);
    const message: unknown = messages[start];
    if (typeof message !== 'object' || message === null) return undefined;
    const known = turns().get(message);
    if (known?.follows(messageBefore(messages, start))) return known;
    const turn = new Turn(messages.slice(0, start + 1));
    turns().set(message, turn);
    return turn;
  }

  /**
   * Session of the last earlier turn of the conversation that has one, while its message is the same object. Other
   * messages, such as a greeting or examples, may be the same objects in several conversations.
   */
  get earlierSession(): string | undefined {
    const { messages } = this;
    if (typeof messages === 'string') return undefined;
    for (let place = messages.length - 2; place >= 0; place -= 1) {
      const message = messages[place];
      const earlier = typeof message === 'object' && message !== null ? turns().get(message) : undefined;
      if (earlier?.sessionId !== undefined && earlier.follows(messageBefore(messages, place)))
        return earlier.sessionId;
    }
    return undefined;
  }

  /** Returns `true` if this is the message before the turn. */
  follows(message: unknown): boolean {
    return messageBefore(this.messages, this.messages.length - 1) === message;
  }

  /** Digest of what the user has written, up to this turn. */
  get digest(): string {
    this.#digest ??= userDigest(this.messages);
    return this.#digest;
  }

  /** Number of turns of the conversation. */
  get count(): number {
    this.#count ??= typeof this.messages === 'string' ? 1 : this.messages.filter(isOfUser).length;
    return this.#count;
  }
}

/** Returns the place of the last message of the user, otherwise of the first message that is not an instruction. */
function startOf(messages: readonly unknown[]): number {
  const last = messages.findLastIndex(isOfUser);
  return last >= 0 ? last : messages.findIndex(isSaid);
}

/**
 * Returns the message before another, apart from instructions. An application may send the same message in several
 * conversations.
 */
function messageBefore(messages: Turn['messages'], place: number): unknown {
  for (let before = place - 1; before >= 0; before -= 1)
    if (isSaid(messages[before])) return messages[before];
  return undefined;
}

/** Returns `true` for messages other than instructions. */
function isSaid(message: unknown): message is object {
  if (typeof message !== 'object' || message === null) return false;
  const { role } = message as { readonly role?: unknown };
  return role !== 'system' && role !== 'developer';
}
