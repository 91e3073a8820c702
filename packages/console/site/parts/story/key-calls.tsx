import type { StoredEvent } from '@actlog/client';
import { type EventMark, eventSubject, markReasons } from '../../events/event-marks.ts';
import { timeSinceStart } from '../../events/since-start.ts';
import { MarkBadges } from './mark-badges.tsx';

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
