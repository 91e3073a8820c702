import fc from 'fast-check';
import type { RiskEvent } from '../src/risk-event.ts';

const TOOLS = [
  'search_emails',
  'send_email',
  'delete_file',
  'get_secret',
  'run_shell',
  'add_memory',
  'pay',
  'frob',
];

/** An event of any category, with times that often coincide, and the stamp that it came with. */
const stampedEvent = fc.record({
  event: fc.record({
    eventId: fc.uuid(),
    agentId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'),
    sessionId: fc.constant('s'),
    timestampMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 4e12 })),
    category: fc.constantFrom(
      'tool_api',
      'tool_api',
      'tool_api',
      'agent_message',
      'memory_write',
      'llm_call',
      'argument_origins',
      'guardian_decision',
      'other',
    ),
    schemaVersion: fc.constantFrom('1.0', '1.1', '0.9', '2.0'),
    toolName: fc.oneof(fc.constantFrom(...TOOLS), fc.string({ maxLength: 60, unit: 'grapheme' })),
    argumentsHash: fc.constantFrom('a', 'b', 'c', 'd'),
    responseStatus: fc.constantFrom(200, 401, 403, 404, 429, 500, null),
    payload: fc.record({
      decision: fc.constantFrom(
        'deny',
        'require_approval',
        'approved',
        'denied',
        'expired',
        'allow',
        'toString',
      ),
      toAgentId: fc.constantFrom('x', 'y', 'z'),
      contentHash: fc.constantFrom('1', '2'),
      heldMs: fc.integer({ min: 0, max: 9000 }),
      eventId: fc.constantFrom('00000000-0000-7000-8000-000000000001', 'A', 'b'),
      toolName: fc.constantFrom(...TOOLS),
      origins: fc.dictionary(
        fc.constantFrom(
          'recipient',
          'body',
          'a.b',
          'command',
          'command.host',
          'url.host',
          'url.segment',
          'url.query',
        ),
        fc.record({
          from: fc.constantFrom('user', 'system', 'tool', 'model', 'unknown', 'else'),
          as: fc.constantFrom('field', 'text'),
          toolName: fc.constantFrom(...TOOLS),
        }),
      ),
    }),
  }) as fc.Arbitrary<RiskEvent>,
  stamp: fc.integer({ min: 0, max: 8191 }),
});

/** The events of a session, each once, and the same in another order. */
export const shuffledSession = fc
  .uniqueArray(stampedEvent, { maxLength: 80, selector: ({ event }) => event.eventId })
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      shuffled: fc.shuffledSubarray(events, { minLength: events.length, maxLength: events.length }),
      /** Positions at which the state is serialized and parsed again. */
      storedAt: fc.nat({ max: Math.max(0, events.length) }),
    }),
  );

const keptTools = [
  'search_emails',
  'send_email',
  'delete_file',
  'get_secret',
  'run_shell',
  'add_memory',
  'pay',
];

/** Returns the event with one of a few tools and arguments, so that all of the session's tools and actions are kept. */
export function ofFewTools(event: RiskEvent): RiskEvent {
  const toolName = keptTools[(event.toolName ?? '').length % keptTools.length] as string;
  return { ...event, toolName, argumentsHash: event.argumentsHash === 'a' ? 'a' : 'b' };
}
