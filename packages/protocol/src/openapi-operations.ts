import type { EndpointName } from './endpoints.ts';
import type { WebhookEventType } from './schemas/webhook-event.ts';

/** What the document says of an operation. */
export interface OperationText {
  /** What it does, in a few words. */
  readonly summary: string;
  /** What a caller must know, in two sentences at most. */
  readonly description: string;
}

/** What each endpoint does: apart from the table, for a client has no use for it. */
export const operations: Record<EndpointName, OperationText> = {
  'events.create': {
    summary: 'Ingest an event',
    description:
      'A 202 means that the event is stored for good, also when warnings come with it. Sending the same `eventId` again is harmless: the event counts once, and the answer has the first `receivedAt`.',
  },
  'sessions.list': {
    summary: 'List sessions',
    description: 'Newest first, by `startedAt`. Events open sessions: nothing else creates one.',
  },
  'sessions.get': {
    summary: 'Get session detail, including its events',
    description:
      'The events come in pages, oldest first: `limit` and `cursor` are about them. To read all of them at once, export the session.',
  },
  'sessions.risk': {
    summary: 'Compute the risk score of the session',
    description:
      'The score covers every event received so far, over the ten dimensions of the OWASP Top 10 for Agentic Applications 2026. It orders sessions by how closely they deserve a look, and is no probability of an attack.',
  },
  'sessions.export': {
    summary: 'Export the session as JSON',
    description:
      'One document with the session, its risk and all its events, streamed, so it may be of any size. What breaks off before `contentSha256` is not whole.',
  },
  'agents.create': {
    summary: 'Register an agent',
    description:
      'An agent that was only seen so far is registered under its `id` and keeps its history. One that is registered already is answered with `ALREADY_EXISTS`: change it with PATCH.',
  },
  'agents.list': {
    summary: 'List agents',
    description:
      'Newest first, by `createdAt`. Agents that sent events before anyone registered them are among them.',
  },
  'agents.get': {
    summary: 'Get an agent',
    description: 'Also an agent that was only seen: its `registered` is false.',
  },
  'agents.update': {
    summary: 'Update an agent',
    description:
      'A JSON Merge Patch (RFC 7396): what is left out stays as it is, and null takes a value away. Revoking an agent denies every action of it that is checked, at once; its events are still kept.',
  },
  'agents.sessions': {
    summary: 'List sessions of an agent',
    description: 'Every session in which the agent acted, whoever opened it. Newest first, by `startedAt`.',
  },
  'policies.create': {
    summary: 'Create a policy',
    description:
      'It counts from the next check on. Try it first with `mode: log_only`, which is reported and decides nothing.',
  },
  'policies.list': {
    summary: 'List policies',
    description:
      'Newest first, by `createdAt`. Archived ones are listed too, unless `status` says otherwise.',
  },
  'policies.get': {
    summary: 'Get a policy',
    description: 'Also one that is archived.',
  },
  'policies.update': {
    summary: 'Update a policy',
    description:
      'A JSON Merge Patch (RFC 7396): what is left out stays as it is, and null takes a value away. Actions that wait for a person go on waiting.',
  },
  'policies.archive': {
    summary: 'Archive a policy',
    description:
      'Final: an archived policy is never matched or changed again, and is still read and listed. Archiving it again answers the same.',
  },
  'policies.check': {
    summary: 'Check an action against policies',
    description:
      'Deny outweighs require_approval, that outweighs allow, and where nothing matches the action is allowed. With an `actionId`, asking again about the same action answers what holds now, so that a held caller learns of the decision; another action under it is `ACTION_MISMATCH`.',
  },
  'guardian.pendingActions.list': {
    summary: 'List pending actions',
    description: 'Newest first, by `createdAt`. Without `status`, only those that still wait.',
  },
  'guardian.pendingActions.decide': {
    summary: 'Decide a pending action',
    description:
      'Final: of several decisions the first wins, and the same one again is answered as the first was. It counts for this very action only: its tool, its `argumentsHash` and its session.',
  },
  'notificationChannels.create': {
    summary: 'Create a webhook',
    description:
      'The answer shows the signing secret, this one time. Addresses that are not public are refused, unless the service allows them.',
  },
  'notificationChannels.list': {
    summary: 'List webhooks',
    description: 'Newest first, by `createdAt`, without their secrets.',
  },
};

/** What each delivery to a webhook is about. */
export const deliveries: Record<WebhookEventType, OperationText> = {
  'session.risk_raised': {
    summary: 'The risk level of a session rose',
    description: 'Sent with each rise of the level, not with a rise of the score within it.',
  },
  'policy.matched': {
    summary: 'A policy matched a checked action',
    description: 'Sent for each policy that applies, also for one in `log_only`.',
  },
  'guardian.action_pending': {
    summary: 'An action waits for a person',
    description: 'Decide it before its `expiresAt`.',
  },
  'guardian.action_decided': {
    summary: 'The wait of an action has ended',
    description: 'By a decision or by time: `status` tells which.',
  },
};
