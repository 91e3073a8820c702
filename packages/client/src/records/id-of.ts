import { InvalidArgumentError } from '../errors/actlog-error.ts';

/** Names for the identifier of any record. */
const ownNames = ['id', '_id'];

/** Names that other services give the identifier of a record, such as `number`, `policyUuid` or `agent_id`. */
const namedLikeId =
  /^(id|uuid|guid|uid|key|number|ref)$|[a-z0-9](Id|ID|Uuid|UUID|Guid|GUID|Uid|UID)$|[_-](id|uuid|guid|uid)$/;

/** Names for the identifier of a held action, which nothing else in its record refers to. */
const actionNames = ['pendingactionid', 'actionid'];

/**
 * Names that also refer from one record to another, from the most specific: a session refers to its agent, and never
 * the other way.
 */
const references = [
  ...actionNames,
  'notificationchannelid',
  'channelid',
  'webhookid',
  'eventid',
  'policyid',
  'sessionid',
  'agentid',
];

/**
 * Returns the identifier of a record, as text, under whatever name the service gives it: `id`, or else the only field
 * whose name reads like an identifier, such as `number`, `policyUuid` or `agentId`. If the record is the only object in
 * a wrapper, such as `{ session: { key } }`, its identifier is found there.
 *
 * @param record A session, agent, policy, pending action or notification channel.
 * @param name Name of the field, if the service has one that cannot be recognized.
 * @throws InvalidArgumentError When there is no such field, or several. The message names the fields, never a value.
 *
 * @example
 * ```ts
 * for await (const agent of client.agents.list()) console.log(idOf(agent));
 * for await (const action of client.guardian.pendingActions.list()) console.log(idOf(action, 'ticket'));
 * ```
 */
export function idOf(record: object, name?: string): string {
  return required(fieldOf(record, name, references) ?? insideOf(record, name), record, name);
}

/**
 * Returns the identifier of a held action. Stricter than `idOf`: two actions of one agent must not pass for the same
 * one, so neither a reference to another record nor a field of the action itself counts.
 */
export function pendingActionIdOf(record: object, name?: string): string {
  return required(fieldOf(record, name, actionNames), record, name);
}

function required(id: string | undefined, record: object, name: string | undefined): string {
  if (id !== undefined) return id;
  const problem = name === undefined ? 'has no field that identifies it' : `has no identifier in ${name}`;
  throw new InvalidArgumentError(
    `record ${problem}: pass the name of one of its fields (${Object.keys(record).join(', ')}).`,
  );
}

/** @param known Names of references that may be the identifier of the record itself. */
function fieldOf(record: object, name: string | undefined, known: readonly string[]): string | undefined {
  const fields = record as Readonly<Record<string, unknown>>;
  if (name !== undefined) return textOf(fields[name]);
  for (const own of ownNames) if (textOf(fields[own]) !== undefined) return textOf(fields[own]);
  const candidates = Object.keys(fields).filter(
    (field) => namedLikeId.test(field) && textOf(fields[field]) !== undefined,
  );
  const unusual = candidates.filter((field) => !references.includes(plain(field)));
  if (unusual.length > 1) {
    throw new InvalidArgumentError(
      `record has several fields that may identify it (${unusual.join(', ')}): pass the name of one.`,
    );
  }
  const wanted = known.find((reference) => candidates.some((field) => plain(field) === reference));
  const [field = candidates.find((candidate) => plain(candidate) === wanted)] = unusual;
  return field === undefined ? undefined : textOf(fields[field]);
}

/** Finds the identifier in the only object of a wrapper. */
function insideOf(record: object, name: string | undefined): string | undefined {
  const inner = Object.values(record).filter(
    (value): value is object => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  if (inner.length !== 1 || !inner[0]) return undefined;
  return fieldOf(inner[0], name, references) ?? insideOf(inner[0], name);
}

/** Returns a name without case and separators, so that `session_id` equals `sessionId`. */
function plain(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}

/** Returns a string that is not empty, or a safe integer as a string. */
function textOf(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Identifier of a record, as a service has it. A number must be a safe integer, because others lose digits in JSON. */
export type RecordId = string | number;
