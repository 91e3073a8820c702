import {
  type Actlog,
  type Risk,
  type RiskFactor,
  type SessionDetail,
  type StoredEvent,
  ValidationError,
} from '@actlog/client';
import type { SessionPlace } from '@actlog/protocol';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { type EventMark, factorsByEvent, markOf, riskyIds } from '../events/event-marks.ts';
import { type EventRow, eventPageSize, eventRows, rowId } from '../events/event-rows.ts';
import type { EventSelection } from '../parts/events/event-controls.tsx';
import { href, parseRoute } from '../route.ts';
import { useVirtualRows, type VirtualRows } from './use-virtual-rows.ts';
import { replacePlace } from './visit.ts';

/** Height of a row before it is measured, in pixels. */
const rowHeight = 38;

/** Events that are read beyond the last visible row. */
const readAhead = 100;

/** The events of a session with what stands out in them. */
export interface SessionStory {
  readonly log: SessionLog;
  readonly marks: ReadonlyMap<string, EventMark>;
  /** Returns the factors of the risk that an event is evidence of. */
  factorsOf(eventId: string): readonly RiskFactor[];
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
export function useSessionStory(
  id: string,
  session: SessionDetail,
  risk: Risk | undefined,
  selection: EventSelection,
): SessionStory {
  const { eventCount = 0 } = session;
  const log = useSessionLog(id, eventCount);
  const { events } = log;
  const setSelection = (next: EventSelection) => {
    if (next !== selection) replacePlace(href(['sessions', id], { show: next === 'all' ? undefined : next }));
  };
  const [missed, setMissed] = useState<number>();
  const byEvent = useMemo(() => factorsByEvent(risk), [risk]);
  const marks = useMemo(() => {
    const risky = riskyIds(risk);
    const marked = events.map((event) => [event.eventId ?? '', markOf(event, byEvent, risky)] as const);
    return new Map(marked.filter((entry): entry is [string, EventMark] => entry[1] !== undefined));
  }, [events, risk]);
  const all = useMemo(() => eventRows(events), [events]);
  const rows = useMemo(() => {
    if (selection === 'all') return all;
    return all.filter(({ event }) => {
      const mark = marks.get(event.eventId ?? '');
      return selection === 'marked' ? mark !== undefined : mark?.kinds.includes(selection);
    });
  }, [all, marks, selection]);
  const unread = log.isComplete ? 0 : Math.max(0, eventCount - log.before - events.length);
  const virtual = useVirtualRows(
    rows.length + (selection === 'all' ? unread : 0),
    rowHeight,
    (index) => rows[index]?.event.eventId ?? `unread ${index}`,
  );
  const lastShown = virtual.items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (log.isReading || log.error !== undefined) return;
    if (unread === 0 && (selection === 'all' || log.before === 0)) return;
    // A selection is only whole once all events were read.
    if (selection !== 'all' && log.before > 0) void log.readFirst();
    else if (selection !== 'all') void log.readUntil(() => false);
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
  // Of a shorter session, all events are read at once.
  const isFar = eventCount > firstEvents;
  const show = (eventId: string) => {
    setMissed(undefined);
    if (!indexes.has(eventId)) setSelection('all');
    shown.show(eventId);
    const isKnown = () => log.events.some((event) => event.eventId === eventId);
    if (isKnown()) return;
    const read = async () => {
      if (isFar) await log.moveTo({ event: eventId });
      await log.readUntil((events) => events.some((event) => event.eventId === eventId));
      if (log.error === undefined && !isKnown()) setMissed(log.before + log.events.length);
    };
    void read();
  };
  // An event in the address, as of a search over all sessions, is shown once.
  useEffect(() => {
    const eventId = parseRoute(location.hash).query.get('event');
    if (eventId) show(eventId);
  }, []);
  const showFrom = (timeMs: number) => {
    const isRead = () => {
      const [first] = log.events;
      const isBefore = first === undefined || timeOf(first) > timeMs;
      return !(isBefore && log.before > 0) && log.events.some((event) => timeOf(event) >= timeMs);
    };
    const read = async () => {
      if (isFar && !isRead()) await log.moveTo({ at: new Date(timeMs).toISOString() });
      await log.readUntil((events) => events.some((event) => timeOf(event) >= timeMs));
    };
    void read().then(() => {
      const { eventId } = log.events.find((event) => timeOf(event) >= timeMs) ?? log.events.at(-1) ?? {};
      if (eventId !== undefined) show(eventId);
    });
  };
  const factorsOf = (eventId: string) => byEvent.get(eventId) ?? [];
  return {
    log,
    marks,
    factorsOf,
    rows,
    unread,
    virtual,
    selection,
    missed,
    select: setSelection,
    show,
    showFrom,
  };
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

/**
 * Returns the number of pages between two notifications: a share of all pages, because drawing costs more with every
 * page, and an event of a long session must not cost more than an event of a short one.
 */
function pagesPerNotice(pages: number): number {
  return Math.max(5, Math.floor(pages / 4));
}

/** Maximum number of pages that are all read again when the session grows. */
const pagesToReread = 10;

interface LogPage {
  /** Cursor of the page; undefined for the first one. */
  readonly cursor: string | undefined;
  readonly events: readonly StoredEvent[];
}

/** Returns `true` if reading can stop; called with newly read events and the number of all events that were read. */
type Suffices = (events: readonly StoredEvent[], count: number) => boolean;

/** Reads the events of a session page by page, oldest first, as far as they are needed. */
class SessionLog {
  readonly #client: Actlog;
  readonly #id: string;
  readonly #onChange: () => void;
  readonly #abort = new AbortController();
  #before = 0;
  #isMoving = false;
  #pages: readonly LogPage[] = [];
  /** Cursor of the next page; undefined for the first one, null after the last. */
  #next: string | null | undefined;
  #events: readonly StoredEvent[] = [];
  #reading: Promise<void> | undefined;
  #error: unknown;

  /** @param onChange - called when events were read, or reading failed */
  constructor(client: Actlog, id: string, onChange: () => void) {
    this.#client = client;
    this.#id = id;
    this.#onChange = onChange;
  }

  /** Events that were read. Another array after each change. */
  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /** Number of events before those that were read. */
  get before(): number {
    return this.#before;
  }

  /** `true` if no event follows those that were read. */
  get isComplete(): boolean {
    return this.#next === null;
  }

  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /** Error of the last request; undefined if it succeeded. */
  get error(): unknown {
    return this.#error;
  }

  /** Reads more events until there are enough, at the end of the session, or after a failure. */
  async readUntil(suffices: Suffices): Promise<void> {
    // One reader at a time: each page needs the cursor of the one before.
    while (this.#reading) await this.#reading;
    if (this.isComplete || suffices(this.#events, this.#events.length)) return;
    await this.#run(async () => {
      let unnoticed = 0;
      while (this.#next !== null) {
        const events = await this.#readPage();
        if (suffices(events, this.#count()) || this.#isMoving) return;
        unnoticed += 1;
        if (unnoticed < pagesPerNotice(this.#pages.length)) continue;
        unnoticed = 0;
        this.#changed();
      }
    });
  }

  /**
   * Reads the page with a time or an event instead of all that were read, if it is far from them. Where the service does
   * not know the place, nothing changes.
   */
  async moveTo(place: { readonly at: string } | { readonly event: string }): Promise<void> {
    const path = `/server/v1/sessions/${encodeURIComponent(this.#id)}/place` as const;
    const { signal } = this.#abort;
    const found = await this.#client
      .request<SessionPlace>('GET', path, { query: place, signal })
      .catch(() => undefined);
    const { before, cursor } = found ?? {};
    if (before === undefined || signal.aborted) return;
    const end = this.#before + this.#count();
    if (before >= this.#before && before < end + firstEvents) return;
    await this.#restart(before, cursor ?? undefined);
  }

  /** Reads the first events again. */
  readFirst(): Promise<void> {
    return this.#restart(0, undefined);
  }

  async #restart(before: number, cursor: string | undefined): Promise<void> {
    this.#isMoving = true;
    while (this.#reading) await this.#reading;
    this.#isMoving = false;
    await this.#run(async () => {
      this.#before = before;
      this.#pages = [];
      this.#next = cursor;
      await this.#readPage();
    });
  }

  /** Reads events that were added since all were read: in a long session, only those at its end. */
  async readNew(): Promise<void> {
    while (this.#reading) await this.#reading;
    if (!this.isComplete) return;
    const [pages, next] = [this.#pages, this.#next];
    const kept = pages.length > pagesToReread ? pages.slice(0, -1) : [];
    await this.#run(async () => {
      this.#next = pages[kept.length]?.cursor;
      this.#pages = kept;
      while (this.#next !== null) await this.#readPage();
    });
    if (this.#error !== undefined) [this.#pages, this.#next] = [pages, next];
  }

  /** Stops reading. */
  close(): void {
    this.#abort.abort();
  }

  async #run(read: () => Promise<void>): Promise<void> {
    this.#error = undefined;
    this.#reading = read().catch((error) => {
      this.#error = error;
      // Cursors expire, and a tab may stay open for days.
      if (!(error instanceof ValidationError)) return;
      this.#before = 0;
      this.#pages = [];
      this.#next = undefined;
    });
    this.#onChange();
    await this.#reading;
    this.#reading = undefined;
    this.#changed();
  }

  async #readPage(): Promise<readonly StoredEvent[]> {
    const cursor = this.#next ?? undefined;
    const query = { limit: eventPageSize, ...(cursor !== undefined && { cursor }) };
    const { signal } = this.#abort;
    const { items, nextCursor } = await this.#client.sessions.events(this.#id, query, { signal });
    this.#pages = [...this.#pages, { cursor, events: items }];
    this.#next = nextCursor;
    return items;
  }

  #count(): number {
    return this.#pages.reduce((sum, { events }) => sum + events.length, 0);
  }

  #changed(): void {
    if (this.#abort.signal.aborted) return;
    this.#events = this.#pages.flatMap(({ events }) => events);
    this.#onChange();
  }
}
