import type { SessionDetail } from '@actlog/client';
import { firstEvents } from '../../hooks/use-session-log.ts';
import type { SessionStory } from '../../hooks/use-session-story.ts';
import { Problem } from '../problem.tsx';
import { EventControls } from './event-controls.tsx';
import { EventTable } from './event-table.tsx';

function progress({ log, unread, missed, rows, selection }: SessionStory): string {
  const read = log.events.length;
  if (missed !== undefined) return `The event is not among the first ${missed}.`;
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
        <EventTable rows={rows} virtual={virtual} unread={unread} marks={marks} startedAt={startedAt} />
      )}
    </>
  );
}
