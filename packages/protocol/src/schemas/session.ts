import * as z from 'zod';
import { storedEvent } from './event.ts';
import { type Accepted, resource } from './resource.ts';
import { risk, riskLevel } from './risk.ts';
import { score, timestamp } from './scalar.ts';

const fixed = {
  /** The identifier that stands in the path. */
  id: z.string(),
};

const profile = {
  /** The agent that opened the session. */
  agentId: z.string(),
  /** Every agent that acted in it. */
  agentIds: z.array(z.string()),
  startedAt: timestamp,
  lastEventAt: timestamp,
  eventCount: z.int(),
  /** Events whose tool answered with a status of 400 or above. */
  errorCount: z.int(),
  /** The first 50 tools, in order of first use. */
  toolNames: z.array(z.string()),
  /** The present risk, or null when nothing was scored. */
  risk: z.looseObject({ score, level: riskLevel }).nullable(),
};

/** A session in a list. */
export const session = resource('Session', fixed, profile);

/** Answer of `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
export const sessionDetail = {
  fixed: z.looseObject({ ...fixed }),
  accepted: session.accepted.extend({
    events: z.array(storedEvent.accepted).optional(),
    nextCursor: z.string().nullable().optional(),
  }),
  sent: session.sent
    .extend({ events: z.array(storedEvent.sent), nextCursor: z.string().nullable() })
    .meta({ id: 'SessionDetail' }),
};

const exported = {
  exportVersion: z.literal('1.0'),
  exportedAt: timestamp,
  eventCount: z.int(),
  /** SHA-256 in hex over the bytes of the `events` array as they stand in the document. */
  contentSha256: z.string(),
};

/** Answer of `GET /v1/sessions/:id/export.json`. */
export const sessionExport = {
  fixed: z.looseObject({}),
  accepted: z
    .looseObject({
      ...exported,
      session: session.accepted,
      risk: risk.accepted,
      events: z.array(storedEvent.accepted),
    })
    .partial(),
  // The service sends its records whole.
  sent: z
    .strictObject({ ...exported, session: session.sent, risk: risk.sent, events: z.array(storedEvent.sent) })
    .meta({ id: 'SessionExport' }),
};

/** A session in a list. */
export type Session = Accepted<typeof session>;
/** A session with a page of its events. */
export type SessionDetail = Accepted<typeof sessionDetail>;
/** A whole session as one document. */
export type SessionExport = Accepted<typeof sessionExport>;
