import * as z from 'zod';
import { storedEvent } from './event.ts';
import { type Accepted, resource } from './resource.ts';
import { risk, riskLevel } from './risk.ts';
import { looseObject, score, strictObject, timestamp } from './scalar.ts';

const fixed = {
  /** Identifier in the path: the `sessionId` of its events. */
  id: z.string(),
} as const;

const sessionRisk = looseObject({
  /** Measure of how unusual and dangerous the session is, 0 to 100; not a probability. */
  score,
  /** Level of the score. */
  level: riskLevel,
}).meta({ id: 'SessionRisk' });

const profile = {
  /** The agent that opened the session. */
  agentId: z.string(),
  /** Every agent that acted in it, ordered by first event; at most the first 1,000. */
  agentIds: z.array(z.string()),
  /** Earliest `sourceTimestamp` of its events. */
  startedAt: timestamp,
  /** Latest `sourceTimestamp` of its events. */
  lastEventAt: timestamp,
  /** Number of events, including those that the service writes itself. */
  eventCount: z.int(),
  /** Number of tool calls with a response status of 400 or above. */
  errorCount: z.int(),
  /** The first 50 tools, ordered by first use. */
  toolNames: z.array(z.string()),
  /** Current risk; null if nothing was scored. */
  risk: sessionRisk.nullable(),
} as const;

/** A session in a list. */
export const session = resource('Session', fixed, profile);

function eventsPage<Event extends z.ZodType>(event: Event) {
  return {
    /** A page of its events, oldest first. */
    events: z.array(event),
    /** Opaque cursor of the next events; null if there are no more. */
    nextCursor: z.string().nullable(),
  } as const;
}

/** Response of `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
export const sessionDetail = {
  fixed: looseObject(fixed),
  accepted: looseObject(fixed, { ...profile, ...eventsPage(storedEvent.accepted) }),
  sent: strictObject({ ...fixed, ...profile, ...eventsPage(storedEvent.sent) }).meta({ id: 'SessionDetail' }),
};

function exported<Session extends z.ZodType, Risk extends z.ZodType, Event extends z.ZodType>(
  session: Session,
  risk: Risk,
  event: Event,
) {
  return {
    /** Version of the export format. */
    exportVersion: z.literal('1.0'),
    /** Time at which the export began; later events are not included. */
    exportedAt: timestamp,
    /** The session as in a list. */
    session,
    /** Risk of the session with all factors. */
    risk,
    /** All events of the session, oldest first. */
    events: z.array(event),
    /** Number of events in `events`. */
    eventCount: z.int(),
    /** SHA-256 in hex of the bytes of the `events` array as written in the document. */
    contentSha256: z.string(),
  } as const;
}

/** Response of `GET /v1/sessions/:id/export.json`. */
export const sessionExport = {
  fixed: looseObject({}),
  accepted: looseObject({}, exported(session.accepted, risk.accepted, storedEvent.accepted)),
  // The service sends complete records.
  sent: strictObject(exported(session.sent, risk.sent, storedEvent.sent)).meta({ id: 'SessionExport' }),
};

/** A session in a list. */
export interface Session extends Accepted<typeof session> {}
/** A session with a page of its events. */
export interface SessionDetail extends Accepted<typeof sessionDetail> {}
/** A whole session as one document. */
export interface SessionExport extends Accepted<typeof sessionExport> {}
