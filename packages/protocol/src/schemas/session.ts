import * as z from 'zod';
import { storedEvent } from './event.ts';
import { looseObject, strictObject } from './object.ts';
import { type Accepted, resource } from './resource.ts';
import { risk, riskLevel } from './risk.ts';
import { score, timestamp } from './scalar.ts';

const fixed = {
  /** The identifier that stands in the path: the `sessionId` of its events. */
  id: z.string(),
} as const;

const sessionRisk = looseObject({
  /** How unusual and how dangerous the session is, 0 to 100; no probability. */
  score,
  /** How much attention the score asks for. */
  level: riskLevel,
}).meta({ id: 'SessionRisk' });

const profile = {
  /** The agent that opened the session. */
  agentId: z.string(),
  /** Every agent that acted in it, in the order of their first events; at most the first 1,000. */
  agentIds: z.array(z.string()),
  /** The earliest `sourceTimestamp` of its events. */
  startedAt: timestamp,
  /** The latest `sourceTimestamp` of its events. */
  lastEventAt: timestamp,
  /** Events in it, with those that the service writes itself. */
  eventCount: z.int(),
  /** Tool calls that answered with a status of 400 or above. */
  errorCount: z.int(),
  /** The first 50 tools, in order of first use. */
  toolNames: z.array(z.string()),
  /** The present risk, or null when nothing was scored. */
  risk: sessionRisk.nullable(),
} as const;

/** A session in a list. */
export const session = resource('Session', fixed, profile);

function eventsPage<Event extends z.ZodType>(event: Event) {
  return {
    /** A page of its events, oldest first. */
    events: z.array(event),
    /** Opaque: the `cursor` of the next events; null when there are no more. */
    nextCursor: z.string().nullable(),
  } as const;
}

/** Answer of `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
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
    /** Version of this format. */
    exportVersion: z.literal('1.0'),
    /** When the export began; what came later is not in it. */
    exportedAt: timestamp,
    /** The session as a list shows it. */
    session,
    /** Its risk with all factors. */
    risk,
    /** All its events, oldest first. */
    events: z.array(event),
    /** Events in `events`. */
    eventCount: z.int(),
    /** SHA-256 in hex over the bytes of the `events` array as they stand in the document. */
    contentSha256: z.string(),
  } as const;
}

/** Answer of `GET /v1/sessions/:id/export.json`. */
export const sessionExport = {
  fixed: looseObject({}),
  accepted: looseObject({}, exported(session.accepted, risk.accepted, storedEvent.accepted)),
  // The service sends its records whole.
  sent: strictObject(exported(session.sent, risk.sent, storedEvent.sent)).meta({ id: 'SessionExport' }),
};

/** A session in a list. */
export type Session = Accepted<typeof session>;
/** A session with a page of its events. */
export type SessionDetail = Accepted<typeof sessionDetail>;
/** A whole session as one document. */
export type SessionExport = Accepted<typeof sessionExport>;
