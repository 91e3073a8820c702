import {
  type Actlog,
  NotFoundError,
  ResponseShapeError,
  type Risk,
  type RiskFactor,
  type StoredEvent,
} from '@actlog/client';
import { riskyEvents, type SessionMarks } from '@actlog/protocol';

/** Kinds of events that stand out, most important first. */
export const markKinds = ['denied', 'held', 'risk', 'error'] as const;

export type MarkKind = (typeof markKinds)[number];

/** Reasons why an event stands out. */
export interface EventMark {
  /** Most important first. */
  readonly kinds: readonly MarkKind[];
  /** Factors that the event is evidence of. */
  readonly factors: readonly RiskFactor[];
  /** Importance among the events of the session. */
  readonly weight: number;
}

/** Words for each kind. */
export const markWords: Readonly<Record<MarkKind, string>> = {
  denied: 'denied',
  held: 'held',
  risk: 'risky',
  error: 'failed',
};

/** Weights of marks. The weight of a factor is the points of the score that it accounts for. */
const weights: Readonly<Record<MarkKind, number>> = { denied: 40, held: 30, risk: 1, error: 2 };

/** Status of a call that was denied, and so did not run. */
export const deniedStatus = 403;

function keyOf({ ruleId, evidence }: RiskFactor): string {
  return `${ruleId} ${evidence.eventIds[0]}`;
}

/** Returns all factors, strongest first, from the service's top factors and the dimensions. */
export function allFactors({ factors = [], dimensions = [] }: Risk): RiskFactor[] {
  const known = new Set(factors.map(keyOf));
  const others = dimensions
    .flatMap((dimension) => dimension.factors ?? [])
    .filter((factor) => !known.has(keyOf(factor)));
  return [...factors, ...others.sort((one, other) => other.delta - one.delta)];
}

/**
 * Returns the factors that each event is evidence of, by event id. Another service may return a risk of another shape,
 * whose factors are not known; the report of the risk says so.
 */
export function factorsByEvent(risk: Risk | undefined): ReadonlyMap<string, readonly RiskFactor[]> {
  try {
    return risk ? readFactors(risk) : new Map();
  } catch {
    return new Map();
  }
}

/** Returns the events that count as risky, as the service counts them. */
export function riskyIds(risk: Risk | undefined): ReadonlySet<string> {
  try {
    return new Set(risk ? riskyEvents(allFactors(risk)).keys() : []);
  } catch {
    return new Set();
  }
}

function readFactors(risk: Risk): ReadonlyMap<string, readonly RiskFactor[]> {
  const byEvent = new Map<string, RiskFactor[]>();
  for (const factor of allFactors(risk)) {
    for (const eventId of new Set(factor.evidence?.eventIds)) {
      byEvent.set(eventId, [...(byEvent.get(eventId) ?? []), factor]);
    }
  }
  return byEvent;
}

/** Returns the mark of an event; undefined if it does not stand out. */
export function markOf(
  { eventId = '', category, payload }: StoredEvent,
  byEvent: ReadonlyMap<string, readonly RiskFactor[]>,
  risky: ReadonlySet<string> = new Set(byEvent.keys()),
): EventMark | undefined {
  const factors = byEvent.get(eventId) ?? [];
  const decision = category === 'guardian_decision' ? payload?.decision : undefined;
  const status = payload?.responseStatus;
  const isCall = category === 'tool_api';
  const is: Readonly<Record<MarkKind, boolean>> = {
    denied: decision === 'deny' || decision === 'denied' || (isCall && status === deniedStatus),
    held: decision === 'require_approval',
    risk: risky.has(eventId),
    error: isCall && typeof status === 'number' && status >= 400 && status !== deniedStatus,
  };
  const kinds = markKinds.filter((kind) => is[kind]);
  if (kinds.length === 0) return undefined;
  const points = factors.reduce((sum, { delta }) => sum + Math.max(0, delta), 0);
  return { kinds, factors, weight: points + kinds.reduce((sum, kind) => sum + weights[kind], 0) };
}

/** Number of reasons that are named; the details of the event name all. */
const mostReasons = 2;

/** Names the strongest reasons why an event stands out. */
export function markReasons({ factors }: EventMark): string {
  const strongest = factors.toSorted((one, other) => other.delta - one.delta);
  const titles = [...new Set(strongest.map(({ title }) => title))];
  const more = titles.length - mostReasons;
  return [...titles.slice(0, mostReasons), ...(more > 0 ? [`${more} more`] : [])].join(' · ');
}

/** Summarizes an event: the tool, or the subject of its category. */
export function eventSubject({ category, payload }: StoredEvent): string {
  const { toolName, toAgentId, model, key, decision } = payload ?? {};
  const named = toolName ?? toAgentId ?? model ?? key ?? decision;
  return typeof named === 'string' ? named : (category ?? '');
}

/**
 * Reads what stands out in all events of a session; undefined from a service that does not count it, such as one that is
 * not the actlog server.
 */
export async function readMarks(
  client: Actlog,
  id: string,
  signal: AbortSignal,
): Promise<SessionMarks | undefined> {
  try {
    const path = `/server/v1/sessions/${encodeURIComponent(id)}/marks` as const;
    const marks = await client.request<SessionMarks>('GET', path, { signal });
    return Array.isArray(marks.buckets) && Array.isArray(marks.notable) ? marks : undefined;
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof ResponseShapeError) return undefined;
    throw error;
  }
}
