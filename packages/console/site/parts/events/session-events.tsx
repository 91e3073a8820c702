import type { SessionDetail } from '@actlog/client';
import { useState } from 'preact/hooks';
import { countText } from '../../count-text.ts';
import type { EventMark } from '../../events/event-marks.ts';
import type { EventRow as Row } from '../../events/event-rows.ts';
import { firstEvents, type SessionStory } from '../../hooks/use-session-story.ts';
import type { VirtualRows } from '../../hooks/use-virtual-rows.ts';
import { Problem } from '../problem.tsx';
import { EventControls } from './event-controls.tsx';
import { EventRow, eventColumns } from './event-row.tsx';

function progress({ log, unread, missed, rows, selection }: SessionStory): string {
  const read = log.events.length;
  if (log.before > 0) return '';
  if (missed !== undefined) return `The event is not among the first ${missed}.`;
  if (selection !== 'all' && unread > 0) {
    return `${rows.length} found so far, in the first ${read} of ${read + unread} events. Reading on…`;
  }
  if (log.isReading && unread > 0) return `Reading: ${read} of ${read + unread} events…`;
  if (unread > 0) return `${read} of ${read + unread} events are read. Scroll to read on.`;
  if (selection !== 'all') return `${rows.length} of ${read} events.`;
  return '';
}

/** The events of a session, oldest first, with controls that select and find them. */
export function SessionEvents({ session, story }: { session: SessionDetail; story: SessionStory }) {
  const { log, rows, unread, marks, virtual, selection } = story;
  const { startedAt, lastEventAt } = session;
  const joined = log.events.length - new Set(rows.map(({ event }) => event.eventId)).size;
  return (
    <>
      <EventControls
        selection={selection}
        onSelect={story.select}
        startedAt={startedAt}
        lastEventAt={lastEventAt}
        onJump={story.showFrom}
      />
      <p role="status" class={story.missed !== undefined ? 'news' : 'faint'}>
        {progress(story)}
      </p>
      {log.before > 0 && (
        <p role="status" class="faint">
          {countText(log.before)} earlier events are not shown, and {countText(unread)} later ones are not
          read yet.{' '}
          <button type="button" class="link" onClick={() => void log.readFirst()}>
            Show from the start
          </button>
        </p>
      )}
      <Problem
        error={log.error}
        onRetry={() => void log.readUntil((_, count) => count > Math.max(firstEvents, log.events.length))}
      />
      {selection === 'all' && joined > 0 && (
        <p class="faint">
          {joined === 1 ? '1 event says' : `${joined} events say`} where arguments came from: see the last
          column of the calls.
        </p>
      )}
      {rows.length === 0 && log.isComplete ? (
        <p class="empty">
          {selection === 'all' ? 'No events.' : 'No event of this kind.'}{' '}
          {selection !== 'all' && (
            <button type="button" class="link" onClick={() => story.select('all')}>
              Show all events
            </button>
          )}
        </p>
      ) : (
        <EventTable {...{ rows, virtual, unread, marks, startedAt }} factorsOf={story.factorsOf} />
      )}
    </>
  );
}

/** Empty rows in place of those that are not rendered. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr class="gap">
        <td colSpan={eventColumns} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}

/** Table of events, of which only the visible ones are rendered. It scrolls by itself. */
function EventTable({
  rows,
  virtual: { scroll, items, before, after, measure },
  unread,
  marks,
  factorsOf,
  startedAt,
}: {
  rows: readonly Row[];
  virtual: VirtualRows;
  /** Number of events that follow the rows and are not read yet. */
  unread: number;
  marks: ReadonlyMap<string, EventMark>;
  factorsOf: SessionStory['factorsOf'];
  startedAt: string | undefined;
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (eventId: string) =>
    setOpen((ids) =>
      ids.has(eventId) ? new Set([...ids].filter((id) => id !== eventId)) : new Set([...ids, eventId]),
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="event-scroll cards" aria-label="Events, oldest first" ref={scroll} tabIndex={0}>
      <table aria-rowcount={rows.length + unread + 1}>
        <caption class="hidden">Events, oldest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Tool</th>
            <th scope="col">Status</th>
            <th scope="col">Agent</th>
            <th scope="col">Why it stands out</th>
          </tr>
        </thead>
        <Gap height={before} />
        {items.map(({ index, key }) => {
          const row = rows[index];
          if (row === undefined) {
            return (
              <tbody key={key} ref={measure} data-index={index}>
                <tr>
                  <td colSpan={eventColumns} class="faint">
                    Reading…
                  </td>
                </tr>
              </tbody>
            );
          }
          const { eventId = '' } = row.event;
          return (
            <EventRow
              key={key}
              row={row}
              index={index}
              mark={marks.get(eventId)}
              factors={factorsOf(eventId)}
              startedAt={startedAt}
              isOpen={open.has(eventId)}
              onToggle={() => toggle(eventId)}
              measure={measure}
            />
          );
        })}
        <Gap height={after} />
      </table>
    </section>
  );
}
