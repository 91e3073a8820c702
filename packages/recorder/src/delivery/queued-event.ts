import type { Actlog } from '@actlog/client';
import type { ListNode } from '../lib/linked-list.ts';

/** Location of an event in the journal. */
export interface JournalPlace {
  /** Notes that the event needs no further handling: it was delivered, dropped or moved. */
  settle(event: QueuedEvent): void;
  /** Forgets the event, which is no longer there. */
  unload(event: QueuedEvent): void;
}

/** An event waiting for delivery. */
export class QueuedEvent {
  readonly eventId: string;
  readonly sessionId: string;
  /** `true` if the event is dropped last: an error, or a decision of the guard. */
  readonly isImportant: boolean;
  /** JSON that is sent, as stored in the journal. */
  readonly body: string;
  readonly originKey: OriginKey;

  /** `true` while the event is being sent, so that it cannot be dropped. */
  inFlight = false;
  /** `true` while the event waits, only in memory, until older events of the journal have been read. */
  isHeld = false;
  /** Number of responses of 500 and the like for this event. */
  faults = 0;
  /** Number of faults between which the service accepted another event. */
  strikes = 0;
  /** Number of delivered events at its last fault. */
  deliveredAtFault = -1;
  /** Location in the journal; undefined if the event is only in memory. */
  place: JournalPlace | undefined;
  offset = 0;
  placeNode: ListNode<QueuedEvent> | undefined;
  /** Nodes of the event in the queue's lists. */
  queueNode: ListNode<QueuedEvent> | undefined;
  ageNode: ListNode<QueuedEvent> | undefined;

  constructor(fields: {
    eventId: string;
    sessionId: string;
    isImportant: boolean;
    body: string;
    originKey: OriginKey;
  }) {
    this.eventId = fields.eventId;
    this.sessionId = fields.sessionId;
    this.isImportant = fields.isImportant;
    this.body = fields.body;
    this.originKey = fields.originKey;
  }

  /** Tells the journal that this event needs no further handling. */
  settle(): void {
    this.place?.settle(this);
  }
}

/** Integration that an event came through. Determines the `x-service-*` headers of its request. */
interface Origin {
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration, such as `@actlog/langchain/1.0.0`. */
  readonly sdk?: string | undefined;
  /** Version of the agent. */
  readonly agentVersion?: string | undefined;
}

/** An origin as stored in the journal: a JSON array of framework, sdk and agent version. */
export type OriginKey = string;

/** Maximum length of a name or version; longer ones are truncated to bound the length of a journal line. */
const maxPartLength = 1_000;

/** Serializes an origin for the journal. */
export function originKey({ framework, sdk, agentVersion }: Origin): OriginKey {
  return JSON.stringify([shorten(framework), shorten(sdk), shorten(agentVersion)]);
}

function shorten(part: string | undefined): string | null {
  if (part === undefined || part === null) return null;
  return part.length > maxPartLength ? part.slice(0, maxPartLength) : part;
}

/**
 * Parses an origin from the journal.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseOriginKey(key: OriginKey): Origin {
  const parts: unknown = JSON.parse(key);
  const [framework, sdk, agentVersion] = Array.isArray(parts) ? parts.map((part) => part ?? undefined) : [];
  return { framework, sdk, agentVersion };
}

/**
 * Returns a string that identifies the deployment and the tenant, for a folder of their own. May contain a secret.
 *
 * @param tenant - used instead of the key
 */
export function tenantSecret(client: Actlog, tenant: string | undefined): string {
  const { baseURL } = client;
  if (tenant) return `${baseURL}\ntenant ${tenant}`;
  return `${baseURL}\n${client.headers().authorization ?? ''}`;
}
