import { processWidePerOwner } from '../../lib/process-wide.ts';
import { currentSessionId } from '../../recording/recorder-session.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { CallSessions } from './call-sessions.ts';
import { newSessionId } from './new-session-id.ts';
import { callKeys, isUnique, keyOf } from './past-calls.ts';
import { noteReturned, sessionOfReturned } from './returned-messages.ts';
import { Turn } from './turn.ts';

/** A tool call that follows on a conversation. */
export interface ConversationCall {
  readonly toolName: string;
  /** Id that the call will have in the messages of later turns, if it has one. */
  readonly callId: string | undefined;
}

/** Sessions of noted calls, per recorder. */
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
   * @param options - the user's options: new ids start with `agentId`, and a `sessionId` that is a text is the session of
   * every conversation
   */
  constructor(recorder: object, { agentId, sessionId }: Pick<AdapterOptions, 'agentId' | 'sessionId'> = {}) {
    this.#recorder = recorder;
    this.#agentId = agentId;
    this.#fixedId = typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
  }

  /**
   * Returns the session of a conversation. In order of precedence: the user's own; that of the surrounding `session.run`; that of the
   * turn, while the last message of the user is the same object; that of a noted call among the messages; that of an
   * earlier turn, while its message of the user, or a message that the framework returned, is the same object; the
   * framework's own id; a new id.
   *
   * Errors of the messages' getters do not reach the agent.
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
   * Notes the session of a call, so that later turns of its conversation are recognized.
   *
   * @param messages - messages before the call, or the text that started the conversation; else nothing is noted
   */
  note(messages: unknown, { callId, toolName }: ConversationCall, sessionId: string | undefined): void {
    if (sessionId === undefined || this.#fixedId !== undefined) return;
    try {
      const turn = Turn.of(messages);
      if (!turn) return;
      const key = isUnique(callId) ? callId : keyOf(turn.digest, callId ?? toolName);
      callSessions(this.#recorder).note(key, { sessionId, turn: turn.count });
    } catch {
      // A getter of a message threw: later turns get a session of their own.
    }
  }

  /**
   * Returns the session of an earlier turn that {@link Conversations.noteTurn} has noted, for frameworks that copy messages.
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

  /** Notes the session of a turn, so that later turns are recognized while the user's message is the same object. */
  noteTurn(messages: unknown, sessionId: string): void {
    try {
      const turn = Turn.of(messages);
      if (turn) turn.sessionId = sessionId;
    } catch {
      // A getter of a message threw: later turns get a session of their own.
    }
  }

  /**
   * Notes the messages that a framework returns for later turns of a conversation, in case they are passed as the same
   * objects.
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
   * Returns the session of the last noted call.
   *
   * @param begun - session that a message is known for, as the same object; tells conversations with the same calls apart
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
