import type { EventMark } from '../../events/event-marks.ts';
import { isApart, type EventRow as Row } from '../../events/event-rows.ts';
import { eventSubject } from '../../events/event-subject.ts';
import { markReasons } from '../../events/mark-reasons.ts';
import { rowId } from '../../events/row-id.ts';
import { timeSinceStart } from '../../events/since-start.ts';
import { ActingAgent } from '../acting-agent.tsx';
import { EventOrigins } from '../origins/event-origins.tsx';
import { MarkBadges } from '../story/mark-badges.tsx';
import { wholeTime } from '../time.tsx';
import { EventDetails } from './event-details.tsx';

/** Number of columns of the table of events. */
export const eventColumns = 5;

function Status({ status }: { status: unknown }) {
  if (typeof status !== 'number') return null;
  return <span class={`badge ${status >= 400 ? 'bad' : 'good'}`}>{status}</span>;
}

/** Rows of one event: its summary, and its details while it is open. */
export function EventRow({
  row: { event, origins, place },
  index,
  mark,
  startedAt,
  isOpen,
  onToggle,
  measure,
}: {
  row: Row;
  /** Index among the rows of the table. */
  index: number;
  mark: EventMark | undefined;
  startedAt: string | undefined;
  isOpen: boolean;
  onToggle: () => void;
  measure: (element: Element | null) => void;
}) {
  const { eventId = '', sourceTimestamp, category, agentId, payload } = event;
  const detailsId = `details-${eventId}`;
  return (
    <tbody ref={measure} data-index={index}>
      <tr id={rowId(eventId)} tabIndex={-1} class={mark && `mark-${mark.kinds[0]}`} aria-rowindex={index + 2}>
        <td class="number">
          <time dateTime={sourceTimestamp} title={wholeTime(sourceTimestamp ?? '')}>
            {timeSinceStart(sourceTimestamp, startedAt)}
          </time>
        </td>
        <th scope="row">
          <button
            type="button"
            class="open"
            aria-expanded={isOpen}
            aria-controls={isOpen ? detailsId : undefined}
            onClick={onToggle}
          >
            {eventSubject(event)}
          </button>
          {category !== 'tool_api' && <div class="faint category">{category}</div>}
        </th>
        <td>
          <Status status={payload?.responseStatus} />
        </td>
        <td class="agent">
          <ActingAgent {...place} agentId={agentId} />
        </td>
        <td class="notes">
          {mark && <MarkBadges mark={mark} />} {mark && <span class="faint">{markReasons(mark)}</span>}
          {origins && <EventOrigins origins={origins} isApart={isApart({ event, origins })} />}
        </td>
      </tr>
      {isOpen && (
        <tr id={detailsId}>
          <td colSpan={eventColumns}>
            <EventDetails event={event} mark={mark} />
          </td>
        </tr>
      )}
    </tbody>
  );
}
