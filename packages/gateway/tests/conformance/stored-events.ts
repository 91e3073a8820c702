import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/** Events of one session's streams in the order of their sending, so that its client can resume a stream. */
export class StoredEvents implements EventStore {
  readonly #events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = [];

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#events.push({ streamId, message }) - 1);
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#events[Number(eventId)]?.streamId;
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const { streamId = '' } = this.#events[Number(lastEventId)] ?? {};
    for (const [index, event] of this.#events.entries())
      if (index > Number(lastEventId) && event.streamId === streamId)
        await send(String(index), event.message);
    return streamId;
  }
}
