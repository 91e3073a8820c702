import { reservedCategory, warningView } from '@actlog/policy';
import { type EventAck, isReservedCategory } from '@actlog/protocol';
import type { OwnRoute } from '../http/route.ts';
import { refusalError } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { Services } from '../services.ts';

/** Route `POST /v1/events`. Responds once the event is durable. */
export function createEvent({ ingest, eventMemory, keyAgents }: Services): OwnRoute<'events.create'> {
  return {
    kind: 'own',
    memory: eventMemory,
    admit: () => ingest.requireQueueSpace(),
    async handle({
      caller,
      body,
      bodyJson,
      bodyMemoryBytes,
      receivedMs,
      protoKeysRemoved,
    }): Promise<EventAck> {
      if (isReservedCategory(body.category)) throw refusalError(reservedCategory);
      // Only the first event of an agent waits for it.
      const admission = keyAgents.admit(caller, [body.agentId]);
      if (admission) await admission;
      const eventId = body.eventId.toLowerCase();
      const isAsSent = eventId === body.eventId;
      const event = {
        // Two spellings of a UUID are one id (RFC 9562), so ids are stored in lower case.
        event: isAsSent ? body : { ...body, eventId },
        json: isAsSent ? bodyJson : undefined,
        sourceMs: Date.parse(body.sourceTimestamp),
        receivedMs,
        protoKeysRemoved,
      };
      const recorded = await ingest.record(caller.tenantId, event, bodyMemoryBytes);
      return {
        eventId: body.eventId,
        receivedAt: isoTime(recorded.receivedMs),
        warnings: recorded.warnings.map(warningView),
      };
    },
  };
}
