import { inZone, now } from '../clock.ts';
import { useConnection } from '../connection.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long', ...inZone });
// In the language of the surrounding text.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

// English, too: dates of other languages have marks for their direction, which the page would show as escapes.
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', ...inZone });
const dateAndClock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', ...inZone });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', ...inZone });

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Formats the distance between two times in the largest fitting unit: "3 min. ago", "in 2 days". */
export function distance(moment: Date, from: Date): string {
  const ms = moment.getTime() - from.getTime();
  const [unit, size] = units.find(([, length]) => Math.abs(ms) >= length) ?? ['second', 1000];
  return relative.format(Math.trunc(ms / size), unit);
}

/** Formats a time by the clock, in the zone of the page: "at 14:02"; on another day than `from`, "on 3 Nov 2026, 14:02". */
export function clockTime(moment: Date, from: Date): string {
  return `${isSameDay(moment, from) ? 'at' : 'on'} ${shortTime(moment, from)}`;
}

/** Formats a time like {@link clockTime}, without "at" or "on". */
export function shortTime(moment: Date, from: Date): string {
  return (isSameDay(moment, from) ? clock : dateAndClock).format(moment);
}

function isSameDay(one: Date, other: Date): boolean {
  return day.format(one) === day.format(other);
}

/**
 * Formats a time in full: local time with its time zone, because an hour can occur twice in a night, and the service's
 * time, to look it up elsewhere. Invalid times are returned unchanged.
 */
export function wholeTime(at: string): string {
  const moment = new Date(at);
  return Number.isNaN(moment.getTime()) ? at : `${full.format(moment)} (${at})`;
}

/**
 * A time as its distance from now, with the full time on hover and in print. Invalid times are shown
 * unchanged.
 */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="faint">never</span>;
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return <>{at}</>;
  return (
    <time dateTime={at} title={wholeTime(at)} translate={false}>
      {distance(moment, now())}
    </time>
  );
}

/** A time by the clock after a verb, "returned at 14:02", with the full time on hover and in print. */
export function ClockTime({ moment }: { moment: Date }) {
  const at = moment.toISOString();
  return (
    <time dateTime={at} title={wholeTime(at)} translate={false}>
      {clockTime(moment, now())}
    </time>
  );
}

/**
 * Returns the name of the one who decided: the person if the deployment knows it, with the key that was used.
 *
 * @param id - `key_…` for a key, `usr_…` for a person who was signed in
 */
export function actorName(id: string, principal: string | null | undefined): string {
  if (principal == null) return id;
  return id.startsWith('usr_') ? principal : `${principal} (${id})`;
}

/** Issuer and subject of a verified identity; undefined for a caller that sent no token. */
function verifierOf(identity: unknown): { issuer: string; subject: string } | undefined {
  const { issuer, subject } = (identity ?? {}) as Readonly<Record<string, unknown>>;
  return typeof issuer === 'string' && typeof subject === 'string' ? { issuer, subject } : undefined;
}

/** Mark of a name that a token of a configured issuer verifies, with issuer and subject; nothing for any other name. */
export function Verified({ identity, what }: { identity: unknown; what: 'agent' | 'principal' }) {
  const verifier = verifierOf(identity);
  if (!verifier || (identity as Readonly<Record<string, unknown>>)[`${what}Verified`] !== true) return null;
  const { issuer, subject } = verifier;
  return (
    <>
      {' '}
      <span class="badge good" title={`${subject}, by ${issuer}`}>
        verified
      </span>
    </>
  );
}

/** Issuer and subject of the token that a caller sent. */
export function VerifiedBy({ identity }: { identity: unknown }) {
  const verifier = verifierOf(identity);
  if (!verifier) return null;
  return (
    <p class="faint">
      Verified by a token: subject <code translate={false}>{verifier.subject}</code>, issuer{' '}
      <code translate={false}>{verifier.issuer}</code>
    </p>
  );
}

/**
 * Trace of a call: its id, as a link where the deployment names a tracer; nothing for a call without one.
 *
 * @param label - text of the link instead of the id; nothing is shown without a tracer then
 */
export function TraceLink({ traceparent, label }: { traceparent: unknown; label?: string }) {
  const { identity } = useConnection();
  const [, traceId, spanId] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(String(traceparent)) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  const id = label ?? <code translate={false}>{traceId}</code>;
  const address = identity.traceUrl?.replaceAll('{traceId}', traceId).replaceAll('{spanId}', spanId);
  // Only the operator sets the address, but a link to a script must not depend on that.
  if (address === undefined || !/^https?:/i.test(address)) return label === undefined ? id : null;
  return (
    <a href={address} target="_blank" rel="noreferrer" title="Open the trace">
      {id}
    </a>
  );
}

/** Agent of an action with its subagent, and with the agents that it runs inside. */
export function ActingAgent({
  agentId,
  subagent,
  parentAgentIds = [],
  identity,
}: {
  agentId: string | undefined;
  subagent?: unknown;
  parentAgentIds?: unknown;
  identity?: unknown;
}) {
  const above = Array.isArray(parentAgentIds) ? parentAgentIds.filter((id) => typeof id === 'string') : [];
  return (
    <bdi class="whole" translate={false}>
      {agentId}
      <Verified identity={identity} what="agent" />
      {typeof subagent === 'string' && ` · ${subagent}`}
      {above.length > 0 && <span class="faint"> in {above.join(', ')}</span>}
    </bdi>
  );
}
