import type { StoredEvent } from '@actlog/client';
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
  count: number;
  /** First event, and the most important one. */
  first: StoredEvent;
  marked: StoredEvent | undefined;
  kind: MarkKind | undefined;
}

function placesOf(
  events: readonly StoredEvent[],
  marks: ReadonlyMap<string, EventMark>,
  [startMs, endMs]: readonly [number, number],
): ReadonlyMap<number, Place> {
  const found = new Map<number, Place>();
  const span = Math.max(1, endMs - startMs);
  for (const event of events) {
    const part = (Date.parse(event.sourceTimestamp ?? '') - startMs) / span;
    if (Number.isNaN(part)) continue;
    const at = Math.min(places - 1, Math.max(0, Math.floor(part * places)));
    const place = found.get(at) ?? { count: 0, first: event, marked: undefined, kind: undefined };
    place.count += 1;
    const [kind] = marks.get(event.eventId ?? '')?.kinds ?? [];
    const isMore =
      kind !== undefined &&
      (place.kind === undefined || markKinds.indexOf(kind) < markKinds.indexOf(place.kind));
    if (isMore) Object.assign(place, { marked: event, kind });
    found.set(at, place);
  }
  return found;
}

/**
 * Strip with the events of a session over time, and marks for those that stand out. A press jumps to the event there.
 * It repeats the lists next to it, so it is hidden from screen readers.
 */
export function Timeline({
  events,
  marks,
  startedAt,
  lastEventAt,
  onShow,
}: {
  events: readonly StoredEvent[];
  marks: ReadonlyMap<string, EventMark>;
  startedAt: string | undefined;
  lastEventAt: string | undefined;
  onShow: (eventId: string) => void;
}) {
  const range = [Date.parse(startedAt ?? ''), Date.parse(lastEventAt ?? '')] as const;
  const found = placesOf(events, marks, range);
  if (found.size === 0) return null;
  const most = Math.max(...Array.from(found.values(), ({ count }) => count));
  return (
    <svg class="timeline" viewBox={`0 0 ${places} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {[...found].map(([at, { count, first, marked, kind }]) => {
        const bar = 4 + (Math.log1p(count) / Math.log1p(most)) * (height / 2 - 4);
        const { eventId = '' } = marked ?? first;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: hidden from screen readers; the lists have buttons for the keyboard
          <g key={at} class={kind === undefined ? undefined : `mark-${kind}`} onClick={() => onShow(eventId)}>
            <rect class="target" x={at} width={1} height={height} />
            <rect class="events" x={at} y={height - bar} width={0.8} height={bar} />
            {kind !== undefined && <rect class="mark" x={at - 0.3} y={2} width={1.4} height={height - 4} />}
          </g>
        );
      })}
    </svg>
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
}: {
  events: readonly StoredEvent[];
  marks: ReadonlyMap<string, EventMark>;
  startedAt: string | undefined;
  onShow: (eventId: string) => void;
}) {
  const weightOf = ({ eventId = '' }: StoredEvent) => marks.get(eventId)?.weight ?? 0;
  const marked = events.filter((event) => weightOf(event) > 0);
  if (marked.length === 0) {
    return <p class="empty">No event stands out: nothing failed, was denied or held, or raised the risk.</p>;
  }
  const chosen = new Set(marked.toSorted((one, other) => weightOf(other) - weightOf(one)).slice(0, most));
  return (
    <>
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
      {marked.length > chosen.size && (
        <p class="faint">
          {marked.length - chosen.size} more {marked.length - chosen.size === 1 ? 'event is' : 'events are'}{' '}
          marked below.
        </p>
      )}
    </>
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
