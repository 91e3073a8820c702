import type { StoredEvent } from '@actlog/client';
import type { SessionMarks } from '@actlog/protocol';
import { countText } from '../../count-text.ts';
import {
  type EventMark,
  eventSubject,
  type MarkKind,
  markKinds,
  markReasons,
  markWords,
} from '../../events/event-marks.ts';
import { timeSinceStart } from '../../events/event-rows.ts';

/** Places along the strip, each of which shows the most important event in it. */
const places = 240;

/** Height of the strip in units of its drawing. */
const height = 40;

interface Place {
  /** Number of events. */
  readonly count: number;
  readonly kind: MarkKind | undefined;
  /** Brings the event of the place into view. */
  readonly show: () => void;
}

/** Data of the strip: counts of all events from the service, or the events that the page has read. */
export interface TimelineData {
  readonly events: readonly StoredEvent[];
  readonly marks: ReadonlyMap<string, EventMark>;
  /** Counts of all events; undefined for a service that has none. */
  readonly counted: SessionMarks | undefined;
  readonly startedAt: string | undefined;
  readonly lastEventAt: string | undefined;
  readonly onShow: (eventId: string) => void;
  readonly onShowFrom: (timeMs: number) => void;
}

type Range = readonly [startMs: number, endMs: number];

function placeAt(timeMs: number, [startMs, endMs]: Range): number {
  const part = (timeMs - startMs) / Math.max(1, endMs - startMs);
  return Math.min(places - 1, Math.max(0, Math.floor(part * places)));
}

function readPlaces({ events, marks, onShow }: TimelineData, range: Range): ReadonlyMap<number, Place> {
  const found = new Map<number, Place>();
  for (const event of events) {
    const timeMs = Date.parse(event.sourceTimestamp ?? '');
    if (Number.isNaN(timeMs)) continue;
    const at = placeAt(timeMs, range);
    const place = found.get(at);
    const { eventId = '' } = event;
    const [kind] = marks.get(eventId)?.kinds ?? [];
    const isMore =
      kind !== undefined &&
      (place?.kind === undefined || markKinds.indexOf(kind) < markKinds.indexOf(place.kind));
    found.set(at, {
      count: (place?.count ?? 0) + 1,
      kind: isMore ? kind : place?.kind,
      show: isMore || place === undefined ? () => onShow(eventId) : place.show,
    });
  }
  return found;
}

function countedPlaces(
  { buckets, bucketMs, notable }: SessionMarks,
  { marks, onShow, onShowFrom }: TimelineData,
  range: Range,
): ReadonlyMap<number, Place> {
  const found = new Map<number, Place>();
  for (const { at, events, errors, denials, held, risky } of buckets) {
    const startMs = Date.parse(at);
    const is: Readonly<Record<MarkKind, number>> = { denied: denials, held, risk: risky, error: errors };
    const kind = markKinds.find((each) => is[each] > 0);
    const named = notable.find(({ eventId, sourceTimestamp }) => {
      const timeMs = Date.parse(sourceTimestamp);
      const isWithin = timeMs >= startMs && timeMs < startMs + bucketMs;
      return isWithin && (kind === undefined || marks.get(eventId)?.kinds.includes(kind));
    });
    found.set(placeAt(startMs, range), {
      count: events,
      kind,
      show: () => (named === undefined ? onShowFrom(startMs) : onShow(named.eventId)),
    });
  }
  return found;
}

/**
 * Strip with the events of a session over time, and marks for those that stand out. A press jumps to the event there.
 * It repeats the lists next to it, so it is hidden from screen readers.
 */
export function Timeline({ data, unread }: { data: TimelineData; unread: number }) {
  const { counted, startedAt, lastEventAt, events } = data;
  const range = [Date.parse(startedAt ?? ''), Date.parse(lastEventAt ?? '')] as const;
  const found = counted ? countedPlaces(counted, data, range) : readPlaces(data, range);
  if (found.size === 0) return null;
  const most = Math.max(...Array.from(found.values(), ({ count }) => count));
  const read = Date.parse(events.at(-1)?.sourceTimestamp ?? '');
  const from = counted === undefined && unread > 0 ? placeAt(read, range) + 1 : places;
  return (
    <>
      <svg class="timeline" viewBox={`0 0 ${places} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {from < places && (
          <>
            <pattern id="unread" width="3" height="6" patternUnits="userSpaceOnUse">
              <path class="hatch" d="M0 6 3 0" />
            </pattern>
            <rect x={from} width={places - from} height={height} fill="url(#unread)" />
          </>
        )}
        {[...found].map(([at, { count, kind, show }]) => {
          const bar = 4 + (Math.log1p(count) / Math.log1p(most)) * (height / 2 - 4);
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: hidden from screen readers; the lists have buttons for the keyboard
            <g key={at} class={kind === undefined ? undefined : `mark-${kind}`} onClick={show}>
              <rect class="target" x={at} width={1} height={height} />
              <rect class="events" x={at} y={height - bar} width={0.8} height={bar} />
              {kind !== undefined && <rect class="mark" x={at - 0.3} y={2} width={1.4} height={height - 4} />}
            </g>
          );
        })}
      </svg>
      {from < places && (
        <p class="faint unread">
          Hatched: {countText(unread)} events that are not read yet. This service does not count what stands
          out in them.
        </p>
      )}
    </>
  );
}

/** Maximum number of calls in the list. */
const most = 8;

function reasonsOf(mark: EventMark, { payload }: StoredEvent): string {
  const status = payload?.responseStatus;
  const failed = typeof status === 'number' && status >= 400 ? `status ${status}` : '';
  return [markReasons(mark), failed].filter(Boolean).join(' · ');
}

/** The few events of a session that matter most, in the order of time. */
export function KeyCalls({
  events,
  marks,
  startedAt,
  onShow,
  part,
}: {
  events: readonly StoredEvent[];
  marks: ReadonlyMap<string, EventMark>;
  startedAt: string | undefined;
  onShow: (eventId: string) => void;
  /** Part of the events that was searched; empty for all. */
  part: string;
}) {
  const weightOf = ({ eventId = '' }: StoredEvent) => marks.get(eventId)?.weight ?? 0;
  const marked = events.filter((event) => weightOf(event) > 0);
  if (marked.length === 0) {
    return (
      <p class="empty">
        No event stands out{part && ` ${part}`}: nothing failed, was denied or held, or raised the risk.
      </p>
    );
  }
  const chosen = new Set(marked.toSorted((one, other) => weightOf(other) - weightOf(one)).slice(0, most));
  return (
    <ol class="key-calls">
      {marked
        .filter((event) => chosen.has(event))
        .map((event) => {
          const mark = marks.get(event.eventId ?? '') as EventMark;
          return (
            <li key={event.eventId} class={`mark-${mark.kinds[0]}`}>
              <button type="button" class="link" onClick={() => onShow(event.eventId ?? '')}>
                {eventSubject(event)}
              </button>
              <span class="number faint">{timeSinceStart(event.sourceTimestamp, startedAt)}</span>
              <MarkBadges mark={mark} />
              <span class="reasons">{reasonsOf(mark, event)}</span>
            </li>
          );
        })}
    </ol>
  );
}

/** Badges for the kinds of a mark. */
export function MarkBadges({ mark }: { mark: EventMark }) {
  return (
    <>
      {mark.kinds.map((kind) => (
        <span key={kind} class={`badge mark-${kind}`}>
          {markWords[kind]}
        </span>
      ))}
    </>
  );
}
