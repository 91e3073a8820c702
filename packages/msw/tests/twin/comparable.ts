/** Values that differ from run to run: generated ids, and positions. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/^(agt|pol|pac|nch|grt)_[0-9a-f]{32}$/, '$1_…'],
  [/^whsec_.+/, 'whsec_…'],
  [/^key_.+/, 'key_…'],
  // The mock's JSON parser reports no position.
  [/; syntax error at byte \d+/, ''],
  [/its history was kept, at [^)]+/, 'its history was kept'],
  [/it is [a-z]{3} \d\d:\d\d in/, 'it is … in'],
];

/** Fields with times of the service or random identifiers. */
const own = new Set([
  'receivedAt',
  'createdAt',
  'updatedAt',
  'lastSeenAt',
  'archivedAt',
  'expiresAt',
  'decidedAt',
  'usedAt',
  'approvedAt',
]);
const ownToo = new Set(['computedAt', 'exportedAt', 'nextCursor', 'contentSha256', 'heldMs', 'eventIds']);

/** Returns a response without values that differ from run to run. */
export function comparable(value: unknown, name = ''): unknown {
  if (value !== null && (own.has(name) || ownToo.has(name))) return `a ${typeof value}`;
  if (typeof value === 'string') {
    return varying.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), value);
  }
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value !== 'object' || value === null) return value;
  // A session of decisions has only the times at which they were made.
  const isOfDecisions =
    'toolNames' in value && Array.isArray(value.toolNames) && value.toolNames.length === 0;
  const isDecision = 'category' in value && value.category === 'guardian_decision';
  const entries = Object.entries(value).filter(
    ([field]) =>
      !(isOfDecisions && (field === 'startedAt' || field === 'lastEventAt')) &&
      !(isDecision && (field === 'eventId' || field === 'sourceTimestamp')),
  );
  return Object.fromEntries(entries.map(([field, item]) => [field, comparable(item, field)]));
}
