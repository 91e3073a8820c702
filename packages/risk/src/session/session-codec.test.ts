import { describe, expect, it } from 'vitest';
import { sessionMarkIndex, sessionMarks } from './mark.ts';
import { observe } from './observe.ts';
import { parseSession, serializeSession } from './session-codec.ts';
import { emptySession } from './session-state.ts';

const categories = [
  'tool_api',
  'agent_message',
  'memory_write',
  'guardian_decision',
  'llm_call',
  'argument_origins',
];
const decisions = ['deny', 'require_approval', 'approved', 'denied', 'expired'];
const verbsByWord = [
  'get',
  'send',
  'delete',
  'pay',
  'run',
  'grant',
  'rotate',
  'remember',
  'delegate',
  'create',
];
const nounWords = ['email', 'webpage', 'secret', 'role', 'memory', 'invoice', 'agent', 'zzz', 'file'];

const originTools = ['send_email', 'run_shell', 'write_file', 'fetch_url'];
const text = (toolName: string) => ({ from: 'tool', as: 'text', toolName });
/** Origins that count as each of the kinds together. */
const someOrigins = [
  { to: text('get_secret'), body: text('get_secret') },
  { to: text('fetch_url'), amount: { from: 'user' }, body: text('read_inbox') },
  { to: { from: 'user' }, amount: text('read_inbox') },
  { to: { from: 'tool', as: 'field', toolName: 'get_contact' } },
  {
    command: text('get_issue'),
    path: text('get_issue'),
    'command.host': text('get_issue'),
    'content.host': text('get_issue'),
  },
  { url: { from: 'model' }, 'url.host': text('read_inbox'), 'url.query': text('get_customer') },
  { amount: text('read_inbox') },
];

/** Returns a session that fills every field of the state to its limit. */
function fullSession(events: number) {
  const state = emptySession();
  for (let at = 0; at < events; at++) {
    const tool = originTools[Math.floor(at / 7) % originTools.length] as string;
    const verb = verbsByWord[at % verbsByWord.length];
    observe(
      state,
      {
        eventId: `${(at * 0x9e3779b1).toString(16).padStart(12, 'f').slice(-8)}-ffff-4fff-8fff-${at.toString(16).padStart(12, 'f')}`,
        agentId: `agent ${at % 50}`,
        sessionId: 'session',
        timestampMs: (at * 7_919_000_001) % 4e12,
        category: categories[at % 7] ?? 'tool_api',
        schemaVersion: `10.0.${at % 9}.77`,
        toolName: `${verb}_${nounWords[at % nounWords.length]}_äöü漢字漢字漢字漢字漢字_${at % 300}`,
        argumentsHash: `${at}`,
        responseStatus: [200, 401, 429, 404, 503, null][Math.floor(at / 1000) % 6] as number | null,
        payload: {
          decision: decisions[at % 5],
          toAgentId: `to ${at}`,
          contentHash: `c ${at}`,
          heldMs: (at % 9) * 1000,
          eventId: `${(at * 0x9e3779b1).toString(16).padStart(12, 'f').slice(-8)}-ffff-4fff-8fff-ffffffffffff`,
          toolName: tool,
          userText: true,
          origins: someOrigins[Math.floor(at / 28) % someOrigins.length],
        },
      },
      { stamp: 8191 },
    );
  }
  return state;
}

describe('serializeSession', () => {
  it('takes at most 8 KiB', () => {
    const state = fullSession(200_000);
    const missing = sessionMarks.filter((_, index) => state.marks[index]?.count === 0);
    expect(missing).toEqual(['unknown', 'opened_up']);
    const text = serializeSession(state);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(8192);
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
      expect(parseSession(serializeSession(state)).marks[sessionMarkIndex.act]?.firstId).toBe(eventId);
    }
  });
});
