import type { RiskLevel } from './schemas/risk.ts';

/** Kinds of channels beside webhooks. */
export const channelKinds = ['slack', 'mail', 'teams', 'push'] as const;

/** Kind of a channel beside webhooks. */
export type ChannelKind = (typeof channelKinds)[number];

/** Events that a channel can receive: a held action, the end of one, and an alert. */
export const channelEvents = ['held', 'decided', 'alert'] as const;

/** Event that a channel can receive. */
export type ChannelEvent = (typeof channelEvents)[number];

/** Hours in which a channel is quiet. */
export interface QuietHours {
  /** Time zone by whose clock the days and times are meant, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Days on which the window starts; every day if omitted. */
  readonly days?: readonly ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[] | undefined;
  /** Start of the window on each day (inclusive), such as `22:00`. */
  readonly from: string;
  /** End of the window (exclusive), such as `07:00`. Before `from`, it is on the next day. */
  readonly to: string;
  /** `true` if held actions wait for the end of the window too. */
  readonly delaysHeldActions: boolean;
}

/** Rules for what a channel receives, and when. */
export interface ChannelRules {
  readonly events: readonly ChannelEvent[];
  /** Patterns of agents, such as `billing*`; any if empty. */
  readonly agents: readonly string[];
  /** Patterns of tools; any if empty. */
  readonly tools: readonly string[];
  /** Patterns of the names or ids of policies; any if empty. */
  readonly policies: readonly string[];
  /** Groups whose people the channel reaches. An action that only certain groups may approve goes to their channels. */
  readonly groups: readonly string[];
  /** Minutes without a decision after which a held action is sent; 0 for at once. */
  readonly afterMinutes: number;
  /** Minutes before the expiry of a held action at which it is sent once more; null for no reminder. */
  readonly remindMinutes: number | null;
  readonly quietHours: QuietHours | null;
}

/** A channel with the state of its deliveries. It never has the secrets of the channel. */
export interface Channel {
  readonly id: string;
  readonly kind: ChannelKind;
  readonly name: string;
  /** Settings of the kind that are no secrets, such as the id of the Slack channel. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly rules: ChannelRules;
  readonly status: 'active' | 'disabled';
  /** Time until which nothing is sent to it; null if it is not muted. */
  readonly mutedUntil: string | null;
  readonly createdAt: string;
  readonly lastDeliveryAt: string | null;
  /** Failed attempts since the last success. */
  readonly failureCount: number;
  /** Start of the current run of failures; null if the last attempt succeeded. */
  readonly failingSince: string | null;
  /** Reason of the last failure; null for none. It contains nothing that the receiver wrote but its error code. */
  readonly lastError: string | null;
}

/** One message to one receiver of a channel, without its content. */
export interface ChannelDelivery {
  readonly id: string;
  readonly channelId: string;
  readonly eventType: string;
  /** Held action that it is about; null for others. */
  readonly pendingActionId: string | null;
  /** `waiting` for its time, or its first or next attempt; `failed` after its last one. */
  readonly status: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly createdAt: string;
  /** Time of the next attempt; null for a finished delivery. */
  readonly nextAttemptAt: string | null;
  readonly finishedAt: string | null;
  /** HTTP status of the last attempt that failed; null for none. */
  readonly responseStatus: number | null;
  /** Reason of the last failure; null for none. */
  readonly error: string | null;
  readonly durationMs: number | null;
}

/** Kinds of causes that a rule of alerts looks for. */
export const alertKinds = ['risk', 'denied', 'error', 'new_tool'] as const;

/**
 * Kind of a cause: `risk` for a session that reaches a level, `denied` for denied calls, `error` for calls that failed,
 * `new_tool` for the first call of a tool by an agent.
 */
export type AlertKind = (typeof alertKinds)[number];

/** Definition of a rule of alerts. */
export interface AlertRuleDefinition {
  readonly name: string;
  readonly kind: AlertKind;
  /** Lowest level of risk. Only with the kind `risk`. */
  readonly level: RiskLevel;
  /** Patterns of agents; any if empty. */
  readonly agents: readonly string[];
  /** Patterns of tools; any if empty. */
  readonly tools: readonly string[];
  /** Number of calls within the window from which the rule alerts. */
  readonly count: number;
  /** Length of the window, in minutes. */
  readonly windowMinutes: number;
  /** Ids of the channels that are told; every channel with the event `alert` if empty. */
  readonly channels: readonly string[];
}

/** A rule of alerts. */
export interface AlertRule extends AlertRuleDefinition {
  readonly id: string;
  /** Time until which it sends nothing; null if it is not muted. */
  readonly mutedUntil: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Type of a message with which a channel is tested. */
export const channelTestType = 'channel.test';
