import type { SentOf } from '@actlog/protocol';

/** State of a held action that a decision depends on: an overdue action is `expired`. */
export type DecidableAction = Pick<
  SentOf<'guardian.pendingActions.decide'>,
  'status' | 'expiresAt' | 'decision' | 'sessionId' | 'singleUse' | 'requestedBy' | 'principal' | 'approvals'
>;
