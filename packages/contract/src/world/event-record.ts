import { createHash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type ActivityEvent, schemaVersion, toolCallCategory } from '@actlog/protocol';
import {
  arrays,
  holds,
  isObject,
  type JsonObject,
  membersNamed,
  mentions,
  values,
} from '../http/api-response.ts';

/** Minimum number of an event's other values in an item with its id, if the item is the event and not a reference. */
const valuesOfCopy = 2;

/**
 * Returns the parts of a document that are about one event: the largest objects that mention its id, and no id of
 * `others`. The specification names the fields of an event, but not where a session has its events.
 */
export function recordsOf(document: unknown, eventId: string, others: readonly string[]): JsonObject[] {
  if (typeof document !== 'object' || document === null || !mentions(document, eventId)) return [];
  const isAlone = !others.some((other) => mentions(document, other));
  if (isAlone && isObject(document)) return [document];
  return Object.entries(document).flatMap(([name, value]) =>
    name.toLowerCase() === eventId.toLowerCase() && isObject(value)
      ? [value]
      : recordsOf(value, eventId, others),
  );
}

/** `true` if two timestamps are the same instant; numbers count milliseconds or seconds. */
function isSameInstant(found: unknown, sent: unknown): boolean {
  const sentMs = Date.parse(String(sent));
  if (typeof found === 'number') return found === sentMs || found * 1000 === sentMs;
  return typeof found === 'string' && Date.parse(found) === sentMs;
}

/** A value of an event, with the comparison for it. */
interface SentValue {
  readonly name: string;
  readonly sent: unknown;
  readonly isSame: (found: unknown) => boolean;
}

function sentValues(event: ActivityEvent): SentValue[] {
  const exact = (name: string, sent: unknown): SentValue => ({
    name,
    sent,
    isSame: (found) => found === sent,
  });
  const { sourceTimestamp, category, schemaVersion, payload } = event;
  return [
    {
      name: 'sourceTimestamp',
      sent: sourceTimestamp,
      isSame: (found) => isSameInstant(found, sourceTimestamp),
    },
    exact('category', category),
    exact('schemaVersion', schemaVersion),
    ...Object.entries(payload).map(([name, sent]) => exact(name, sent)),
  ];
}

/** Returns the fault of one value in a record; undefined if the record has it, under its own name or another one. */
function faultOf(record: JsonObject, { name, sent, isSame }: SentValue): string | undefined {
  const named = membersNamed(record, name);
  const has = (found: unknown) => values(found).some(isSame);
  if (named.some(has)) return undefined;
  const [found] = named;
  if (named.length > 0)
    return `${name} was sent as ${JSON.stringify(sent)} but returned as ${JSON.stringify(found)}`;
  return has(record) ? undefined : `${name} was sent as ${JSON.stringify(sent)} but is not returned`;
}

/**
 * Returns the first fault of an event that was read back; undefined if one of its records has every value that was
 * sent, under any name.
 */
export function readBackFault(records: readonly JsonObject[], event: ActivityEvent): string | undefined {
  const faults = records.map((record) =>
    sentValues(event)
      .map((value) => faultOf(record, value))
      .filter((fault) => fault !== undefined),
  );
  return faults.sort((left, right) => left.length - right.length)[0]?.[0];
}

/** Returns the fault of an event's agent or session; the document may name them once for all of its events. */
export function ownerFault(
  document: unknown,
  records: readonly JsonObject[],
  event: ActivityEvent,
  name: 'agentId' | 'sessionId',
): string | undefined {
  const sent = event[name];
  const isSame = (found: unknown) => String(found) === sent;
  const faults = records.map((record) => faultOf(record, { name, sent, isSame }));
  if (faults.length === 0 || faults.includes(undefined)) return undefined;
  const isNamed = records.some((record) => membersNamed(record, name).length > 0);
  return !isNamed && holds(document, sent) ? undefined : faults[0];
}

function isCopy(item: unknown, event: ActivityEvent): boolean {
  if (!isObject(item) || !carries(item, event.eventId)) return false;
  return sentValues(event).filter(({ isSame }) => values(item).some(isSame)).length >= valuesOfCopy;
}

/** `true` if the id is a value of an object, outside of arrays. */
function carries(object: JsonObject, eventId: string): boolean {
  return Object.values(object).some((value) =>
    isObject(value)
      ? carries(value, eventId)
      : typeof value === 'string' && value.toLowerCase() === eventId.toLowerCase(),
  );
}

/** Returns how often an event occurs in one list of a document; if several lists have it, the highest number counts. */
export function copiesOf(document: unknown, event: ActivityEvent): number {
  return Math.max(0, ...arrays(document).map((array) => array.filter((item) => isCopy(item, event)).length));
}

/** Creates an event of a tool call, with a hash that no other event has. */
export function newEvent(
  fields: Partial<ActivityEvent> & Pick<ActivityEvent, 'agentId' | 'sessionId'>,
): ActivityEvent {
  const eventId = fields.eventId ?? randomUUID();
  return {
    eventId,
    sourceTimestamp: new Date(Date.now() - 60_000).toISOString(),
    category: toolCallCategory,
    schemaVersion,
    payload: { toolName: 'contract_probe', argumentsHash: hashOf(eventId), responseStatus: 200 },
    ...fields,
  };
}

/** Returns the hash in the payload of an event. */
export function hashOf(eventId: string): string {
  return `sha256:${createHash('sha256').update(eventId).digest('hex')}`;
}

/** Names of members that change whenever a record is written or read. */
const incidental =
  /^(updated|modified|changed|touched|last|synced|fetched|read|generated|now|server|age|elapsed|remaining)|(version|revision|etag|updated_?at|expires_?in)$/i;

/** Returns a document without the members that do not show the state of a record. */
function withoutIncidental(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(withoutIncidental);
  if (!isObject(document)) return document;
  return Object.fromEntries(
    Object.entries(document)
      .filter(([name]) => !incidental.test(name))
      .map(([name, value]) => [name, withoutIncidental(value)]),
  );
}

/** `true` if two versions of a record differ only in members such as the time of the last change. */
export function isUnchanged(before: unknown, after: unknown): boolean {
  return isDeepStrictEqual(withoutIncidental(before), withoutIncidental(after));
}
