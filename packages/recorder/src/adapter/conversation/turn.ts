import { processWide } from '../../lib/process-wide.ts';
import { isOfUser, userDigest } from './past-calls.ts';

/** Turns by the last message of the user, which stays the same object while a turn adds messages. */
const turns = processWide('@actlog/recorder/turns', () => new WeakMap<object, Turn>());

/** A turn of a conversation: from a message of the user to the next. */
export class Turn {
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
