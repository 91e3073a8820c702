import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../http/api-response.ts';

/** Names of members that change when a record is written or read, whatever happened to it. */
const incidental =
  /^(updated|modified|changed|touched|last|synced|fetched|read|generated|now|server|age|elapsed|remaining)|(version|revision|etag|updated_?at|expires_?in)$/i;

/** Returns a document without the members that say nothing about the state of a record. */
function withoutIncidental(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(withoutIncidental);
  if (!isObject(document)) return document;
  return Object.fromEntries(
    Object.entries(document)
      .filter(([name]) => !incidental.test(name))
      .map(([name, value]) => [name, withoutIncidental(value)]),
  );
}

/** `true` if two versions of a record only differ in members such as the time of the last change. */
export function isUnchanged(before: unknown, after: unknown): boolean {
  return isDeepStrictEqual(withoutIncidental(before), withoutIncidental(after));
}
