import type { Risk, SessionDetail } from '@actlog/client';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { type EventMark, factorsByEvent, markOf } from '../events/event-marks.ts';
import { type EventRow, eventRows, rowId } from '../events/event-rows.ts';
import { SessionLog } from '../events/session-log.ts';
import type { EventSelection } from '../parts/events/event-controls.tsx';
import { useVirtualRows, type VirtualRows } from './use-virtual-rows.ts';

/** Height of a row before it is measured, in pixels. */
const rowHeight = 38;

/** Events that are read beyond the last visible row. */
const readAhead = 100;

/** The events of a session with what stands out in them. */
export interface SessionStory {
  readonly log: SessionLog;
  readonly marks: ReadonlyMap<string, EventMark>;
  /** Rows of the selected events. */
  readonly rows: readonly EventRow[];
  /** Number of events that are not read yet. */
  readonly unread: number;
  readonly virtual: VirtualRows;
  readonly selection: EventSelection;
  /** Number of events that were searched for one that was not found; undefined if none is missing. */
  readonly missed: number | undefined;
  select(selection: EventSelection): void;
  /** Brings an event into view, however far down it is. */
  show(eventId: string): void;
  /** Brings the first event from a time on into view, in Unix milliseconds. */
  showFrom(timeMs: number): void;
}

const timeOf = ({ sourceTimestamp = '' }: { sourceTimestamp?: string | undefined }) =>
  Date.parse(sourceTimestamp);

/** Reads the events of a session as they are needed, and marks those that stand out. */
export function useSessionStory(id: string, session: SessionDetail, risk: Risk | undefined): SessionStory {
  const { eventCount = 0 } = session;
  const log = useSessionLog(id, eventCount);
  const { events } = log;
  const [selection, setSelection] = useState<EventSelection>('all');
  const [missed, setMissed] = useState<number>();
  const marks = useMemo(() => {
    const byEvent = factorsByEvent(risk);
    const marked = events.map((event) => [event.eventId ?? '', markOf(event, byEvent)] as const);
    return new Map(marked.filter((entry): entry is [string, EventMark] => entry[1] !== undefined));
  }, [events, risk]);
  const all = useMemo(() => eventRows(events), [events]);
  const rows = useMemo(() => {
    if (selection === 'all') return all;
    return all.filter(({ event }) => {
      const mark = marks.get(event.eventId ?? '');
      return selection === 'marked' ? mark !== undefined : mark?.kinds.includes('error');
    });
  }, [all, marks, selection]);
  const unread = log.isComplete ? 0 : Math.max(0, eventCount - events.length);
  const virtual = useVirtualRows(
    rows.length + (selection === 'all' ? unread : 0),
    rowHeight,
    (index) => rows[index]?.event.eventId ?? `unread ${index}`,
  );
  const lastShown = virtual.items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (log.isReading || log.error !== undefined || unread === 0) return;
    // A selection is only whole once all events were read.
    if (selection !== 'all') void log.readUntil(() => false);
    else if (lastShown >= rows.length) {
      void log.readUntil((_, count) => count > lastShown + readAhead);
    }
  });
  const indexes = useMemo(() => {
    const byId = new Map<string, number>();
    for (const [index, { event, origins }] of rows.entries()) {
      byId.set(event.eventId ?? '', index);
      if (origins !== undefined) byId.set(origins.eventId, index);
    }
    return byId;
  }, [rows]);
  const shown = useShownEvent((eventId) => {
    const index = indexes.get(eventId);
    if (index !== undefined) virtual.scrollTo(index);
    return index !== undefined;
  });
  const show = (eventId: string) => {
    setMissed(undefined);
    if (!indexes.has(eventId)) setSelection('all');
    shown.show(eventId);
    const isKnown = () => log.events.some((event) => event.eventId === eventId);
    if (isKnown()) return;
    void log
      .readUntil((read) => read.some((event) => event.eventId === eventId))
      .then(() => log.error === undefined && !isKnown() && setMissed(log.events.length));
  };
  const showFrom = (timeMs: number) => {
    void log
      .readUntil((read) => read.some((event) => timeOf(event) >= timeMs))
      .then(() => {
        const { eventId } = log.events.find((event) => timeOf(event) >= timeMs) ?? log.events.at(-1) ?? {};
        if (eventId !== undefined) show(eventId);
      });
  };
  return { log, marks, rows, unread, virtual, selection, missed, select: setSelection, show, showFrom };
}

/** Row to bring into view. */
interface ShownEvent {
  /** Requests that a row is brought into view and focused. */
  show(eventId: string): void;
}

/**
 * Brings the row of an event into view once it is rendered, and focuses it.
 *
 * @param scrollTo - scrolls the list so that the row is rendered; returns `false` if the list has no such row yet
 */
function useShownEvent(scrollTo: (eventId: string) => boolean): ShownEvent {
  const target = useRef<string>(undefined);
  const focused = useRef<Element | null>(null);
  const [, setRequests] = useState(0);
  useLayoutEffect(() => {
    if (target.current === undefined) return;
    const found = document.getElementById(rowId(target.current));
    if (found === null) {
      scrollTo(target.current);
      return;
    }
    const element = found.closest('tr') ?? found;
    target.current = undefined;
    // Users who have moved on to something else are not interrupted.
    const { activeElement } = document;
    if (activeElement !== focused.current && activeElement !== document.body) return;
    element.scrollIntoView({ block: 'center' });
    element.focus({ preventScroll: true });
  });
  return {
    show: (eventId) => {
      target.current = eventId;
      focused.current = document.activeElement;
      setRequests((count) => count + 1);
    },
  };
}

/** Number of events that are read at once. A session with more is read further when the user goes there. */
export const firstEvents = 2000;

/**
 * Reads the first events of a session, and new ones when it grows.
 *
 * @param eventCount - number of events in the session
 */
function useSessionLog(id: string, eventCount: number): SessionLog {
  const { client } = useConnection();
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const log = useMemo(() => new SessionLog(client, id, redraw), [client, id]);
  useEffect(() => {
    void log.readUntil((_, count) => count >= firstEvents);
    return () => log.close();
  }, [log]);
  useEffect(() => {
    if (log.events.length > 0 && eventCount > log.events.length) void log.readNew();
  }, [log, eventCount]);
  return log;
}
