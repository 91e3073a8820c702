import { describe, expect, it } from 'vitest';
import { MARKS } from './mark.ts';
import { observe } from './observe.ts';
import { parseSession, serializeSession } from './session-codec.ts';
import { emptySession } from './session-state.ts';

const CATEGORIES = [
  'tool_api',
  'agent_message',
  'memory_write',
  'guardian_decision',
  'llm_call',
  'argument_origins',
];
const DECISIONS = ['deny', 'require_approval', 'approved', 'denied', 'expired'];
const VERBS = ['get', 'send', 'delete', 'pay', 'run', 'grant', 'rotate', 'remember', 'delegate', 'create'];
const NOUNS = ['email', 'webpage', 'secret', 'role', 'memory', 'invoice', 'agent', 'zzz', 'file'];

/** Returns a session that fills every field of the state to its limit. */
function fullSession(events: number) {
  const state = emptySession();
  for (let at = 0; at < events; at++) {
    const verb = VERBS[at % VERBS.length];
    observe(
      state,
      {
        eventId: `${(at * 0x9e3779b1).toString(16).padStart(12, 'f').slice(-8)}-ffff-4fff-8fff-${at.toString(16).padStart(12, 'f')}`,
        agentId: `agent ${at % 50}`,
        sessionId: 'session',
        timestampMs: (at * 7_919_000_001) % 4e12,
        category: CATEGORIES[at % 7] ?? 'tool_api',
        schemaVersion: `10.0.${at % 9}.77`,
        toolName: `${verb}_${NOUNS[at % NOUNS.length]}_äöü漢字漢字漢字漢字漢字_${at % 300}`,
        argumentsHash: `${at}`,
        responseStatus: [200, 401, 429, 404, 503, null][at % 6] as number | null,
        payload: {
          decision: DECISIONS[at % 5],
          toAgentId: `to ${at}`,
          contentHash: `c ${at}`,
          heldMs: (at % 9) * 1000,
          eventId: `${(at * 0x9e3779b1).toString(16).padStart(12, 'f').slice(-8)}-ffff-4fff-8fff-ffffffffffff`,
          toolName: 'send_email',
          origins: {
            to: { from: 'tool', as: 'text', toolName: 'get_secret' },
            body: { from: 'tool', as: 'text' },
          },
        },
      },
      { stamp: 8191 },
    );
  }
  return state;
}

describe('serializeSession', () => {
  it('takes at most 4 KiB', () => {
    const state = fullSession(200_000);
    expect(state.marks.filter((tally) => tally.count > 0).length).toBeGreaterThan(MARKS.length - 3);
    const text = serializeSession(state);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(4096);
    expect(serializeSession(parseSession(text))).toBe(text);
  });

  it('takes a few dozen bytes for an empty session', () => {
    expect(serializeSession(parseSession(serializeSession(emptySession())))).toBe(
      serializeSession(emptySession()),
    );
  });
});

describe('parseSession', () => {
  it('rejects invalid strings with a clear message', () => {
    const text = serializeSession(fullSession(10));
    expect(() => parseSession(text.slice(0, 40))).toThrow(/truncated/);
    expect(() => parseSession('not base64 at all')).toThrow(RangeError);
    expect(() => parseSession(btoa('\u0009'))).toThrow(/format 9.*recompute/);
  });

  it('keeps event ids unchanged', () => {
    for (const eventId of [
      '0198A3C0-0000-7000-8000-00000000000F',
      '0198a3c0-0000-7000-8000-00000000000f',
      'Mixed-7',
    ]) {
      const state = emptySession();
      const event = {
        agentId: 'a',
        sessionId: 's',
        timestampMs: 5,
        category: 'tool_api',
        schemaVersion: '1.0',
      };
      observe(state, { ...event, eventId, toolName: 'send_email' });
      expect(parseSession(serializeSession(state)).log.head[0]?.eventId).toBe(eventId);
    }
  });
});
