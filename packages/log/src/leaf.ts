import { randomBytes } from 'node:crypto';
import { exactDigitsOf } from '@actlog/protocol';
import { malformed } from './log-error.ts';
import { sha256 } from './merkle.ts';

/** Kinds of records in a log. */
export const recordKinds = ['event', 'decision', 'approval', 'audit', 'deletion'] as const;

/** Kind of a record in a log. */
export type RecordKind = (typeof recordKinds)[number];

/** A record that an entry of the log stands for. */
export interface LogRecord {
  readonly kind: RecordKind;
  readonly id: string;
  /** The record's fields, as JSON. */
  readonly row: unknown;
}

/**
 * Fields of a record of kind `deletion` that a verifier reads; it may have others, such as who deleted, and why. Each
 * pair is the first and the last index of entries whose records were deleted.
 */
export interface DeletionRow {
  readonly entries: readonly (readonly [first: number, last: number])[];
}

/** Members of the rows with the time of a record, by its kind: the first one that is a time counts. */
const timeMembers: Readonly<Record<RecordKind, readonly string[]>> = {
  event: ['receivedAt'],
  decision: ['checkedAt'],
  approval: ['decidedAt', 'expiresAt'],
  audit: ['at'],
  deletion: ['deletedAt'],
};

/**
 * Returns the time of a record by the clock of the service, in Unix milliseconds; `undefined` if its row has none.
 */
export function recordTime({ kind, row }: Pick<LogRecord, 'kind' | 'row'>): number | undefined {
  const members = (row ?? {}) as Record<string, unknown>;
  for (const name of timeMembers[kind] ?? []) {
    const time = typeof members[name] === 'string' ? Date.parse(members[name]) : Number.NaN;
    if (!Number.isNaN(time)) return time;
  }
  return undefined;
}

/** Number of bytes of a salt. */
export const saltBytes = 16;

/**
 * Returns a salt for one record. Without it, an entry says nothing about the record's content, however short that is:
 * erasing the record and its salt erases the content.
 */
export function createSalt(): Uint8Array {
  return randomBytes(saltBytes);
}

/**
 * Returns the entry of a record: the SHA-256 of its salt, followed by the canonical JSON (RFC 8785) of its `kind`, `id`
 * and `row`. These 32 bytes are all that the log contains of the record.
 *
 * @throws LogError `malformed` when the salt is not 16 bytes long
 * @throws TypeError when the row is not JSON-serializable
 */
export function recordEntry({ kind, id, row }: LogRecord, salt: Uint8Array): Uint8Array {
  if (salt.length !== saltBytes) {
    throw malformed('The salt of a record', `must have ${saltBytes} bytes, got ${salt.length}.`);
  }
  const json = canonicalJson({ kind, id, row });
  const input = Buffer.allocUnsafe(saltBytes + json.length * 3);
  input.set(salt);
  return sha256(input.subarray(0, saltBytes + input.write(json, saltBytes)));
}

/** Canonical JSON of names of members, which occur in record after record. */
const canonicalNames = new Map<string, string>();

/** Maximum names and their length that are remembered. */
const maxNames = 1000;
const maxNameLength = 100;

function canonicalName(name: string): string {
  const known = canonicalNames.get(name);
  if (known !== undefined) return known;
  const json = canonicalJson(name);
  if (canonicalNames.size < maxNames && name.length <= maxNameLength) canonicalNames.set(name, json);
  return json;
}

/**
 * Serializes a JSON value in its one canonical form (RFC 8785). Numbers that a double cannot hold, as `parseExactJson` of
 * `@actlog/protocol` reads them, and BigInts keep their digits. Members with the value undefined are left out.
 *
 * @throws TypeError when the value is not JSON-serializable
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return JSON.stringify(value);
    throw new TypeError('A string with half of a surrogate pair has no canonical JSON.');
  }
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object')
    throw new TypeError(`A value of type ${typeof value} has no canonical JSON.`);
  const digits = exactDigitsOf(value);
  if (digits !== undefined) return digits;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  for (const name of sortedNames(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    if (members !== '') members += ',';
    members += `${canonicalName(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Maximum names that are sorted by insertion, which costs less than a call of `sort` for as many. */
const maxInserted = 24;

/** Returns the names of the members, sorted by UTF-16 code units as the RFC demands. */
function sortedNames(value: object): string[] {
  const names = Object.keys(value);
  if (names.length > maxInserted) return names.sort();
  for (let next = 1; next < names.length; next += 1) {
    const name = names[next] as string;
    let at = next;
    for (; at > 0 && (names[at - 1] as string) > name; at -= 1) names[at] = names[at - 1] as string;
    names[at] = name;
  }
  return names;
}
