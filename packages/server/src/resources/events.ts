import { categoryRefusal, warningView } from '@actlog/policy';
import { type EventAck, headers } from '@actlog/protocol';
import { parseTraceparent } from '@actlog/tool-call';
import type { RequestMemory } from '../http/limits/request-memory.ts';
import type { OwnRoute } from '../http/route.ts';
import type { GroupCommit } from '../ingest/group-commit.ts';
import { refusalError } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import type { KeyAgents } from '../tenants/key-ring.ts';
import type { VerifiedCallers } from '../tenants/verified-callers.ts';

/** Parts of {@link createEvent}. */
export interface EventParts {
  readonly ingest: GroupCommit;
  /** Limits the memory of events until they are stored. */
  readonly eventMemory: RequestMemory;
  /** Agents that each key acts as. */
  readonly keyAgents: KeyAgents;
  readonly verifiedCallers: VerifiedCallers;
}

/** Route `POST /v1/events`. Responds once the event is durable. */
export function createEvent({
  ingest,
  eventMemory,
  keyAgents,
  verifiedCallers,
}: EventParts): OwnRoute<'events.create'> {
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
      header,
    }): Promise<EventAck> {
      const refusal = categoryRefusal(body.category);
      if (refusal) throw refusalError(refusal);
      const token = header(headers.identity);
      // Most callers send no token.
      const isVerified = token !== undefined || caller.requiresIdentity;
      const verified = isVerified
        ? await verifiedCallers.of(token, caller.requiresIdentity, [body.agentId])
        : undefined;
      // Only the first event of an agent waits for it.
      const admission = keyAgents.admit(caller, [body.agentId]);
      if (admission) await admission;
      const callTraceparent = header(headers.callTraceparent);
      const eventId = body.eventId.toLowerCase();
      const isAsSent = eventId === body.eventId;
      const event = {
        // Two spellings of a UUID are one id (RFC 9562), so ids are stored in lower case.
        event: isAsSent ? body : { ...body, eventId },
        json: isAsSent ? bodyJson : undefined,
        sourceMs: Date.parse(body.sourceTimestamp),
        receivedMs,
        protoKeysRemoved,
        identity: verified && JSON.stringify(verified.identity),
        // `traceparent` is about this request, which a recorder sends some time after the call.
        traceparent: callTraceparent && parseTraceparent(callTraceparent),
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
