import type { SentOf } from '@actlog/protocol';

/** An agent as the API returns it. */
export type AgentRecord = SentOf<'agents.get'>;
/** A policy as the API returns it. */
export type PolicyRecord = SentOf<'policies.get'>;
/** A pending or decided action. */
export type PendingActionRecord = SentOf<'guardian.pendingActions.decide'>;
/** A webhook, without its secret. */
export type ChannelRecord = SentOf<'notificationChannels.list'>['items'][number];
/** A session in a list. */
export type SessionRecord = SentOf<'sessions.list'>['items'][number];
/** An accepted event. */
export type EventRecord = SentOf<'sessions.get'>['events'][number];
