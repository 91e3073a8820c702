import { type Actlog, type StoredEvent, ValidationError } from '@actlog/client';
import { eventPageSize } from './event-rows.ts';

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
export class SessionLog {
  readonly #client: Actlog;
  readonly #id: string;
  readonly #onChange: () => void;
  readonly #abort = new AbortController();
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
        if (suffices(events, this.#count())) return;
        unnoticed += 1;
        if (unnoticed < pagesPerNotice(this.#pages.length)) continue;
        unnoticed = 0;
        this.#changed();
      }
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
