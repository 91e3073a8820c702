import type { EventAck } from '@actlog/protocol';
import { validationError } from '../http/api-error.ts';
import type { OwnRoute } from '../http/route.ts';
import { eventWarning } from '../ingest/warnings.ts';
import { isoTime } from '../iso-time.ts';
import type { Services } from '../services.ts';

/** The category that only the service writes: a decision that a sender could claim would prove nothing. */
const reservedCategory = 'guardian_decision';

/** `POST /v1/events`: answered when the event is durable. */
export function createEvent({ ingest, eventMemory }: Services): OwnRoute<'events.create'> {
  return {
    kind: 'own',
    memory: eventMemory,
    admit: () => ingest.requirePlace(),
    async handle({
      caller,
      body,
      bodyJson,
      bodyMemoryBytes,
      receivedMs,
      protoKeysRemoved,
    }): Promise<EventAck> {
      if (body.category === reservedCategory) {
        throw validationError(
          'category',
          'reserved',
          `"${reservedCategory}" is written by the service itself; use another category`,
        );
      }
      const event = {
        event: body,
        json: bodyJson,
        sourceMs: Date.parse(body.sourceTimestamp),
        receivedMs,
        protoKeysRemoved,
      };
      const recorded = await ingest.record(caller.tenantId, event, bodyMemoryBytes);
      return {
        eventId: body.eventId,
        receivedAt: isoTime(recorded.receivedMs),
        warnings: recorded.warnings.map(eventWarning),
      };
    },
  };
}
