import type { Actlog, StoredEvent } from '@actlog/client';

/**
 * Reads the events of a session that earlier reads have not given. Memory is bounded by one page: the position is the
 * cursor of the last page, so an event that arrives later but belongs on an earlier page is not given.
 */
export class EventFollower {
  readonly #client: Actlog;
  readonly #id: string;
  #cursor: string | undefined;
  /** Events of the last page, which is read again. */
  #seen: ReadonlySet<string> = new Set();

  constructor(client: Actlog, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Gives the events since the last read, oldest first. */
  async *read(signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    try {
      yield* this.#readFrom(this.#cursor, signal);
    } catch (error) {
      // The service accepts a cursor for a day. A quiet session outlives that.
      if ((error as { code?: unknown }).code !== 'VALIDATION_ERROR' || this.#cursor === undefined)
        throw error;
      yield* this.#readFrom(undefined, signal);
    }
  }

  /** @param from - cursor to start at; without one, the pages before the last known one are skipped */
  async *#readFrom(from: string | undefined, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    let cursor = from;
    let isSkipping = from === undefined && this.#cursor !== undefined && this.#seen.size > 0;
    for (;;) {
      const query = { limit: 200, ...(cursor !== undefined && { cursor }) };
      const { items, nextCursor } = await this.#client.sessions.events(this.#id, query, { signal });
      const ids = items.map(({ eventId }) => String(eventId));
      if (isSkipping && ids.some((id) => this.#seen.has(id))) isSkipping = false;
      if (!isSkipping) {
        for (const event of items) if (!this.#seen.has(String(event.eventId))) yield event;
        this.#cursor = cursor;
        this.#seen = new Set(ids);
      }
      if (nextCursor === null || nextCursor === undefined) return;
      cursor = nextCursor;
    }
  }
}
