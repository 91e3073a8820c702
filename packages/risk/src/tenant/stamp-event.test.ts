import { describe, expect, it } from 'vitest';
import { type RiskEvent, stampNames } from '../risk-event.ts';
import { type Arrival, stampEvent } from './stamp-event.ts';
import { emptyTenant, parseTenant, serializeTenant, type TenantState } from './tenant-state.ts';

const now = Date.UTC(2026, 0, 5);
const tools = [
  'search_emails',
  'send_email',
  'read_file',
  'github__create_issue',
  'get_weather',
  'list_files',
];

function event(part: Partial<RiskEvent> = {}): RiskEvent {
  return {
    eventId: '00000000-0000-7000-8000-000000000000',
    agentId: 'mail',
    sessionId: 's',
    timestampMs: now,
    category: 'tool_api',
    schemaVersion: '1.0',
    toolName: 'read_file',
    argumentsHash: 'x',
    responseStatus: 200,
    ...part,
  };
}

function stamps(tenant: TenantState, part: Partial<RiskEvent>, arrival: Partial<Arrival> = {}): string[] {
  const stored = parseTenant(serializeTenant(tenant));
  const full: Arrival = { agentStatus: 'active', receivedAtMs: now + 3_600_000, ...arrival };
  const { stamp } = stampEvent(tenant, event(part), full);
  expect(stampEvent(stored, event(part), full).stamp, 'a stored state must stamp alike').toBe(stamp);
  return stampNames.filter((_, index) => stamp & (1 << index)).filter((name) => name !== 'tenant_known');
}

/** Returns a tenant with twelve sessions of three agents, an hour apart. */
function known(): TenantState {
  const tenant = emptyTenant();
  for (let at = 0; at < 36; at++) {
    const arrival = { agentStatus: 'active', receivedAtMs: now } as const;
    const part = {
      sessionId: `old-${at % 12}`,
      agentId: `agent-${at % 3}`,
      timestampMs: now - (40 - at) * 3_600_000,
    };
    stampEvent(
      tenant,
      event({ ...part, toolName: tools[at % 6] as string, argumentsHash: `${at}` }),
      arrival,
    );
  }
  return tenant;
}

describe('stampEvent', () => {
  it('adds no stamp for a known tool or for an unknown tenant', () => {
    expect(stamps(known(), {})).toEqual([]);
    expect(stamps(emptyTenant(), { toolName: 'frobnicate' })).toEqual([]);
  });

  it('stamps a new tool only in its first session', () => {
    const tenant = known();
    expect(stamps(tenant, { toolName: 'frobnicate' })).toEqual(['tool_new_to_tenant']);
    expect(stamps(tenant, { toolName: 'frobnicate' })).toEqual(['tool_new_to_tenant']);
    expect(
      stamps(tenant, { toolName: 'frobnicate', sessionId: 'later', timestampMs: now + 900_000 }),
    ).toEqual([]);
  });

  it.each([
    ['send_emial', 'tool_lookalike'],
    ['send_emai1', 'tool_lookalike'],
    ['serch_emails', 'tool_lookalike'],
    ['send_emаil', 'tool_confusable'],
    ['send_\u200bemail', 'tool_confusable'],
    ['send_\u200demail', 'tool_confusable'],
    ['send_email\ufe0f', 'tool_confusable'],
    ['send_e\u0337mail', 'tool_confusable'],
    ['evil__create_issue', 'tool_shadowed'],
    ['evil.create_issue', 'tool_shadowed'],
  ])('stamps the new tool %s', (toolName, stamp) => {
    expect(stamps(known(), { toolName })).toContain(stamp);
  });

  it.each([
    'calendar.search_emails',
    'people.contacts.list_files',
    'list_file',
    'send_emails',
    'read_files',
    'get_weather_2',
    'отправить_письмо',
    'SEND_EMAIL',
    '发送邮件',
    'ईमेल_भेजें',
    'ค้นหาอีเมล',
    'جست‌وجو_می‌شود',
    'send_✉️',
    '👩‍💻_run',
    'get_latency_µs',
    'list_files_v2',
  ])('accepts the new tool %s', (toolName) => {
    expect(stamps(known(), { toolName })).toEqual(['tool_new_to_tenant']);
  });

  it('distinguishes names that differ by a number or by a one-letter word', () => {
    const tenant = known();
    for (const toolName of ['query_db1', 'search_zorb_v1', '查询用户订单', 'ईमेल_भेजें'])
      stampEvent(tenant, event({ toolName }), { agentStatus: 'active', receivedAtMs: now });
    for (const toolName of ['query_db2', 'search_zorb_v2', '删除用户订单', 'ईमेल_खोजें'])
      expect(stamps(tenant, { toolName })).toEqual(['tool_new_to_tenant']);
  });

  it('detects an agent in two sessions at once', () => {
    const tenant = known();
    expect(stamps(tenant, { sessionId: 'one' })).toEqual([]);
    expect(stamps(tenant, { sessionId: 'two', timestampMs: now + 5000 })).toEqual(['agent_elsewhere']);
    expect(stamps(tenant, { sessionId: 'three', timestampMs: now + 600_000 })).toEqual([]);
    expect(stamps(tenant, { sessionId: 'four', agentId: 'other', timestampMs: now + 600_000 })).toEqual([]);
  });

  it('keeps at most four sessions of an agent that is active in many at once', () => {
    const tenant = known();
    const arrival = { agentStatus: 'active', receivedAtMs: now } as const;
    const changes = Array.from({ length: 30 }, (_, at) => {
      const part = { sessionId: `job-${at % 10}`, timestampMs: now + at };
      if (at > 0) expect(stamps(structuredClone(tenant), part)).toEqual(['agent_elsewhere']);
      return stampEvent(tenant, event(part), arrival).changed;
    });
    expect(changes.map((changed, at) => changed && at).filter((at) => at !== false)).toEqual([0, 1, 2, 3]);
    // A minute later those four are over, and a continuing session is still detected.
    expect(stamps(tenant, { sessionId: 'job-9', timestampMs: now + 20_000 })).toEqual(['agent_elsewhere']);
    expect(stamps(tenant, { sessionId: 'job-0', timestampMs: now + 70_000 })).toEqual(['agent_elsewhere']);
  });

  it('detects failures of three agents', () => {
    const tenant = known();
    const failed = { responseStatus: 500, timestampMs: now };
    expect(stamps(tenant, { ...failed, agentId: 'a', sessionId: 'a' })).toEqual([]);
    expect(stamps(tenant, { ...failed, agentId: 'b', sessionId: 'b' })).toEqual([]);
    expect(stamps(tenant, { ...failed, agentId: 'c', sessionId: 'c' })).toEqual(['failure_spread']);
    expect(stamps(tenant, { ...failed, agentId: 'd', sessionId: 'd', timestampMs: now + 3_000_000 })).toEqual(
      [],
    );
  });

  it('detects the same action by three agents', () => {
    const tenant = known();
    const action = { toolName: 'send_email', argumentsHash: 'same' };
    expect(stamps(tenant, { ...action, agentId: 'a', sessionId: 'a' })).toEqual([]);
    expect(stamps(tenant, { ...action, agentId: 'b', sessionId: 'b' })).toEqual([]);
    expect(stamps(tenant, { ...action, agentId: 'b', sessionId: 'b' })).toEqual([]);
    expect(stamps(tenant, { ...action, agentId: 'c', sessionId: 'c' })).toEqual(['same_intent']);
  });

  it('counts a stopped call neither as a failure nor as an action', () => {
    const tenant = known();
    const action = { toolName: 'send_email', argumentsHash: 'same' };
    for (const agentId of ['a', 'b', 'c']) {
      const stopped = { category: 'guardian_decision', payload: { decision: 'deny' } };
      const part = { ...action, agentId, sessionId: agentId };
      expect(stamps(tenant, { ...part, ...stopped })).toEqual([]);
      expect(stamps(tenant, { ...part, responseStatus: 403 })).toEqual([]);
    }
    expect(tenant.failures).toEqual([]);
    expect(stamps(tenant, { ...action, agentId: 'd', sessionId: 'd' })).toEqual([]);
  });

  it('detects a replayed message and an unknown recipient', () => {
    const tenant = known();
    const message = (toAgentId: string) => ({
      category: 'agent_message',
      payload: { toAgentId, contentHash: 'm' },
    });
    expect(stamps(tenant, { ...message('agent-1'), agentId: 'agent-0', sessionId: 'x' })).toEqual([]);
    expect(stamps(tenant, { ...message('agent-0'), agentId: 'agent-1', sessionId: 'y' })).toEqual([
      'message_replayed',
    ]);
    expect(stamps(tenant, { ...message('nobody'), agentId: 'agent-0', sessionId: 'x' })).toEqual([
      'recipient_unknown',
    ]);
  });

  it('stamps agent status and clock errors', () => {
    expect(stamps(known(), {}, { agentStatus: 'revoked' })).toEqual(['agent_revoked']);
    expect(stamps(known(), {}, { agentStatus: 'unregistered' })).toEqual(['agent_unregistered']);
    expect(stamps(known(), {}, { receivedAtMs: now - 600_000 })).toEqual(['clock_ahead']);
  });

  it('ignores events that the service writes', () => {
    const decision = { category: 'guardian_decision', payload: { decision: 'denied' } };
    const arrivals = [
      { agentStatus: 'revoked' },
      { agentStatus: 'unregistered' },
      { receivedAtMs: now - 600_000 },
    ] as const;
    for (const arrival of arrivals) expect(stamps(known(), decision, arrival)).toEqual([]);
  });

  it('keeps the state bounded', () => {
    const tenant = emptyTenant();
    for (let at = 0; at < 3000; at++) {
      const part = { sessionId: `s${at}`, agentId: `a${at}`, toolName: `send_${at}`, responseStatus: 500 };
      stampEvent(tenant, event({ ...part, argumentsHash: `${at}` }), {
        agentStatus: 'active',
        receivedAtMs: now,
      });
      const payload = { toAgentId: `a${at}`, contentHash: `c${at}` };
      stampEvent(tenant, event({ category: 'agent_message', payload }), {
        agentStatus: 'active',
        receivedAtMs: now,
      });
    }
    expect(serializeTenant(tenant).length).toBeLessThan(100_000);
  });
});
