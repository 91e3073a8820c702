import { isJson, type Json, Refusal } from './refusal.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Throws the refusal of an event with a field of another type; only some fields are required. */
export function validateEvent(event: Json): void {
  const { eventId, agentId, sessionId, sourceTimestamp, category, schemaVersion, payload } = event;
  const { toolName, argumentsHash, responseStatus } = isJson(payload) ? payload : {};
  const rules: readonly (readonly [boolean, string])[] = [
    [typeof eventId === 'string' && uuid.test(eventId), 'eventId'],
    [isText(agentId), 'agentId'],
    [isText(sessionId), 'sessionId'],
    [
      sourceTimestamp === undefined || (isText(sourceTimestamp) && isInstant(sourceTimestamp)),
      'sourceTimestamp',
    ],
    [category === 'tool_api', 'category'],
    [schemaVersion === undefined || isText(schemaVersion), 'schemaVersion'],
    [isJson(payload), 'payload'],
    [[toolName, argumentsHash].every((value) => value === undefined || isText(value)), 'payload'],
    [responseStatus === undefined || Number.isInteger(responseStatus), 'payload.responseStatus'],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken) throw new Refusal(422, 'VALIDATION_ERROR', `${broken[1]} is not as it should be.`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** `true` for a time in UTC that exists: `Date` would take February 30 for March 2. */
function isInstant(text: string): boolean {
  const date = new Date(text);
  return (
    utc.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === text.slice(0, 19)
  );
}
