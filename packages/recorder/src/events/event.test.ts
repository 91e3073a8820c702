import { event } from '@actlog/protocol/schemas';
import { toIdentifier } from '@actlog/tool-call';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventId, eventBody, identityOf, isoTimestamp } from './event.ts';

test('equals the output of JSON.stringify for a valid event', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 599 }),
      (tool, id, status) => {
        const nowMs = Date.UTC(2026, 0, 1);
        const fields = {
          eventId: createEventId(nowMs),
          agentId: toIdentifier(id, 'agent'),
          sessionId: toIdentifier(id, 'session'),
          sourceTimestamp: isoTimestamp(nowMs),
        };
        const payload = {
          toolName: toIdentifier(tool, 'unknown'),
          argumentsHash: 'sha256:00',
          responseStatus: status,
        };
        const whole = { ...fields, category: 'tool_api', schemaVersion: '1.0', payload };
        expect(eventBody({ ...fields, ...payload })).toBe(JSON.stringify(whole));
        expect(event.safeParse(whole).success).toBe(true);
        const { eventId, sessionId } = fields;
        expect(identityOf(JSON.stringify(whole))).toEqual({ eventId, sessionId, responseStatus: status });
      },
    ),
  );
});
