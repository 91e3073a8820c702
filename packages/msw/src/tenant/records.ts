import type { SentOf } from '@actlog/protocol';

/** The records of a tenant, just as the wire shows them. */
export type AgentRecord = SentOf<'agents.get'>;
/** A policy. */
export type PolicyRecord = SentOf<'policies.get'>;
/** An action that waits, or waited, for a person. */
export type PendingActionRecord = SentOf<'guardian.pendingActions.decide'>;
/** A webhook, without its secret. */
export type ChannelRecord = SentOf<'notificationChannels.list'>['items'][number];
/** A session in a list. */
export type SessionRecord = SentOf<'sessions.list'>['items'][number];
/** An event as it was taken. */
export type EventRecord = SentOf<'sessions.get'>['events'][number];
