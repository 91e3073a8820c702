import type { ChannelKind, SentOf } from '@actlog/protocol';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';

/** A held action as the API shows it. */
export type ShownAction = SentOf<'guardian.pendingActions.decide'>;

/** A labeled fact of a card. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** Address that the text leads to. Default: none. */
  readonly url?: string | undefined;
}

/** Everything about a held action that an approver decides about, in words. No fact is cut. */
export interface Card {
  readonly title: string;
  /** State in one sentence, such as "Waits for a decision." or "Approved by ada@example.com." */
  readonly state: string;
  readonly facts: readonly Fact[];
  /** Shown arguments as JSON over several lines; `undefined` if the agent shows none. */
  readonly argumentsText: string | undefined;
  /** Arguments that an approver changed, one a line; empty for none. The decision is about these. */
  readonly changes: readonly string[];
  /** Origins of the arguments, one a line; empty if they are not known. */
  readonly origins: readonly string[];
}

/** A message for people. */
export type ChannelMessage =
  | {
      readonly type: 'approval';
      /** Reason for the message: a new action, one that nobody has decided yet, the last call, or its end. */
      readonly notice: 'held' | 'escalated' | 'reminder' | 'decided';
      readonly action: ShownAction;
      readonly card: Card;
      /** Address of the action in the console; `undefined` if the server does not know its own. */
      readonly url: string | undefined;
      /** Tokens for the buttons of a channel in which people decide; `undefined` once the action has ended. */
      readonly tokens: { readonly approve: string; readonly deny: string } | undefined;
    }
  | {
      readonly type: 'alert';
      readonly title: string;
      readonly lines: readonly string[];
      readonly url?: string;
    }
  | { readonly type: 'test'; readonly channelName: string; readonly url: string | undefined };

/** Destination of a message. */
export interface ChannelTarget {
  readonly tenantId: number;
  /** Id of the channel. */
  readonly id: string;
  readonly name: string;
  /** All settings of the kind, with the secret ones. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Id of the delivery, the same in each attempt. */
  readonly deliveryId: string;
  /** Receiver within the channel; `null` if the channel is the receiver. */
  readonly recipient: string | null;
  /** Name at the receiver of the message that is to be changed; `undefined` for a new message. */
  readonly changes: string | undefined;
  /** Name at the receiver of the message that this one belongs to; `undefined` for none. */
  readonly repliesTo: string | undefined;
}

/** One kind of channel. */
export interface ChannelDriver {
  readonly kind: ChannelKind;
  /** `true` if a sent message can be changed, so that it always shows the state of its action. */
  readonly updates: boolean;
  /** Names of the settings that are stored encrypted and never returned. */
  readonly secretSettings: readonly string[];
  /** Reason for which this server cannot send to the kind, and what the operator has to set; `undefined` if it can. */
  problem(): string | undefined;
  /**
   * Checks the settings of a channel before they are stored. Returns them with defaults, and the address whose host
   * the messages go to.
   *
   * @throws ChannelSettingError
   */
  check(
    settings: unknown,
  ): Promise<{ readonly settings: Readonly<Record<string, unknown>>; readonly url: string }>;
  /**
   * Sends a message. Returns what the receiver calls it, if it can be changed.
   *
   * @throws SendError
   */
  send(message: ChannelMessage, target: ChannelTarget): Promise<string | null>;
}

/** Error thrown for settings of a channel that are not valid. */
export class ChannelSettingError extends Error {
  override readonly name = 'ChannelSettingError';
  /** Name of the setting. */
  readonly setting: string;

  constructor(setting: string, message: string) {
    super(message);
    this.setting = setting;
  }
}

/** Error thrown when a message was not accepted. The message contains no secret and nothing that was sent. */
export class SendError extends Error {
  override readonly name = 'SendError';
  /** HTTP status; `null` if there was no response, or the channel does not use HTTP. */
  readonly status: number | null;
  /** Delay that the receiver requested, in milliseconds. */
  readonly retryAfterMs: number;
  /** `true` if the receiver is gone for good, so that no further attempt is made. */
  readonly isGone: boolean;

  constructor(
    message: string,
    {
      status = null,
      retryAfterMs = 0,
      isGone = false,
    }: { readonly status?: number | null; readonly retryAfterMs?: number; readonly isGone?: boolean } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isGone = isGone;
  }
}

/** Types of the messages to channels. A card is changed when its action changes; the others are sent once. */
export type ChannelEventType =
  | 'approval.card'
  | 'approval.held'
  | 'approval.reminder'
  | 'approval.decided'
  | 'alert'
  | 'channel.test';

/** Content of a stored message: what it is about. It is written out when it is sent, so nothing of it is outdated. */
export interface StoredMessage {
  readonly type: ChannelEventType;
  readonly timestamp: string;
  readonly data: {
    readonly sessionId: string | null;
    readonly isEscalated?: boolean;
    readonly title?: string;
    readonly lines?: readonly string[];
    /** Place in the console, after `#`. */
    readonly place?: string;
  };
}

/** Returns the content of a stored message. */
export function storedMessage({ body }: Pick<DeliveryRow, 'body'>): StoredMessage {
  return JSON.parse(body) as StoredMessage;
}
