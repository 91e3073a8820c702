import { processWide, processWidePerOwner } from '../../lib/process-wide.ts';
import { currentSessionId } from '../../recording/session.ts';
import { CallSessions } from './call-sessions.ts';
import { newSessionId } from './new-session-id.ts';
import { callKeys, lastOfUser, nextCallKey, userTurns } from './past-calls.ts';

/** A tool call that follows on a conversation. */
export interface ConversationCall {
  readonly toolName: string;
  /** Id that the call will have in the messages of later turns, if it has one. */
  readonly callId: string | undefined;
}

/** A turn whose session is known. */
interface Turn {
  readonly sessionId: string;
  /** Message before the user's: an application may send one object in several conversations. */
  readonly before: unknown;
}

/** Turns by the last message of the user, which stays the same object while a turn adds messages. */
const turns = processWide('@actlog/recorder/turns', () => new WeakMap<object, Turn>());

/** Sessions by the first message of a conversation. */
const beginnings = processWide('@actlog/recorder/conversations', () => new WeakMap<object, string>());

/** Sessions of noted calls, per recorder. */
const callSessions = processWidePerOwner('@actlog/recorder/call-sessions', () => new CallSessions());

/**
 * Sessions of conversations in frameworks that have no ids for them. A conversation is recognized by the tool calls
 * among its messages, so that it may be serialized and rebuilt between two turns, or converted to the format of another
 * framework.
 */
export class Conversations {
  readonly #recorder: object;
  readonly #agentName: string | undefined;

  /**
   * @param recorder - recorder of the calls
   * @param agentName - name with which new ids start
   */
  constructor(recorder: object, agentName?: string) {
    this.#recorder = recorder;
    this.#agentName = agentName;
  }

  /**
   * Returns the session of a conversation. In order of precedence: that of the surrounding `session.run`; that of the
   * turn, while the last message of the user is the same object; that of a noted call among the messages; if earlier
   * turns have no calls, that of the first message, while it is the same object; the framework's own id; a new id.
   *
   * Errors of the messages' getters do not reach the agent.
   *
   * @param messages - the conversation so far. If it is not a list of messages, there is no new id
   * @param ownId - returns an id of the framework that lasts for this turn at least
   */
  sessionOf(messages: unknown, ownId?: () => string | undefined): string | undefined {
    const surrounding = currentSessionId();
    if (surrounding !== undefined) return surrounding;
    try {
      return this.#sessionOfTurn(messages, ownId) ?? ownId?.();
    } catch {
      return ownId?.();
    }
  }

  /**
   * Notes the session of a call, so that later turns of its conversation are recognized.
   *
   * @param messages - messages before the call, or the text that started the conversation; else nothing is noted
   */
  note(messages: unknown, { callId, toolName }: ConversationCall, sessionId: string | undefined): void {
    if (sessionId === undefined || !(Array.isArray(messages) || typeof messages === 'string')) return;
    try {
      const key = nextCallKey(messages, callId, toolName);
      callSessions(this.#recorder).note(key, { sessionId, turn: userTurns(messages) });
    } catch {
      // A getter of a message threw: later turns get a session of their own.
    }
  }

  #sessionOfTurn(messages: unknown, ownId: (() => string | undefined) | undefined): string | undefined {
    const said = Array.isArray(messages) ? messages.filter(isSaid) : [];
    const message = lastOfUser(said) ?? said[0];
    if (!message) return undefined;
    const past = said.slice(0, said.indexOf(message));
    const before = past.at(-1);
    const turn = turns().get(message);
    if (turn && turn.before === before) return turn.sessionId;
    const sessionId = this.#earlierSession(said, past) ?? ownId?.() ?? newSessionId(this.#agentName);
    turns().set(message, { sessionId, before });
    beginnings().set(said[0] as object, sessionId);
    return sessionId;
  }

  /**
   * Returns the session of the last noted call.
   *
   * @param past - messages of earlier turns
   */
  #earlierSession(said: readonly object[], past: readonly object[]): string | undefined {
    const sessions = callSessions(this.#recorder);
    for (const key of callKeys(said).reverse()) {
      const sessionId = sessions.find(key);
      if (sessionId !== undefined) return sessionId;
    }
    return callKeys(past).length === 0 ? beginnings().get(said[0] as object) : undefined;
  }
}

/** Returns `true` for messages other than instructions. */
function isSaid(message: unknown): message is object {
  if (typeof message !== 'object' || message === null) return false;
  const { role } = message as { readonly role?: unknown };
  return role !== 'system' && role !== 'developer';
}
