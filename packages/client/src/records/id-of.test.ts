import { describe, expect, it } from 'vitest';
import { idOf, pendingActionIdOf } from './id-of.ts';

describe('idOf', () => {
  it.each<[string, object, string]>([
    ['its name in the profile', { id: 'a', key: 'b', agentId: 'c' }, 'a'],
    ['a number', { id: 7 }, '7'],
    ['the number zero', { id: 0, name: 'x' }, '0'],
    ['the name of MongoDB', { _id: 'a' }, 'a'],
    ['a common name', { number: 1001, displayName: 'x' }, '1001'],
    ['the name of its resource', { policyUuid: 'u', title: 'x' }, 'u'],
    ['the name of its resource, and a reference', { sessionId: 's', agentId: 'a' }, 's'],
    ['snake case', { session_id: 's', agent_id: 'a' }, 's'],
    ['only a name that may also be a reference', { agentId: 'a', name: 'x' }, 'a'],
    ['an unusual name beside references', { ticketId: 't', agentId: 'a', sessionId: 's' }, 't'],
    ['a wrapper', { session: { key: 's' }, size: 3 }, 's'],
    ['a wrapper of a creation', { created: { number: '7', displayName: 'x' } }, '7'],
  ])('finds an id under %s', (_name, record, id) => {
    expect(idOf(record)).toBe(id);
  });

  it('uses the name that the caller gives', () => {
    expect(idOf({ id: 'a', ticket: 't' }, 'ticket')).toBe('t');
    expect(idOf({ session: { slug: 's' } }, 'slug')).toBe('s');
  });

  it.each<[object, string | undefined, string]>([
    [
      { ticket: 't', who: 'x' },
      undefined,
      'record has no field that identifies it: pass the name of one of its fields (ticket, who).',
    ],
    [
      { ticket: 't' },
      'number',
      'record has no identifier in number: pass the name of one of its fields (ticket).',
    ],
    [
      { key: 'k', number: 3 },
      undefined,
      'record has several fields that may identify it (key, number): pass the name of one.',
    ],
    [
      { id: '' },
      undefined,
      'record has no field that identifies it: pass the name of one of its fields (id).',
    ],
    [
      { id: 2 ** 53 },
      undefined,
      'record has no field that identifies it: pass the name of one of its fields (id).',
    ],
    [
      { apiKey: 'al_live_secret', phoneNumber: '5' },
      undefined,
      'record has no field that identifies it: pass the name of one of its fields (apiKey, phoneNumber).',
    ],
  ])('does not guess the id of %j (%s)', (record, name, message) => {
    expect(() => idOf(record, name)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message }));
  });
});

describe('pendingActionIdOf', () => {
  it('takes no reference and no field of the action for the id', () => {
    expect(pendingActionIdOf({ actionId: 'p', agentId: 'a' })).toBe('p');
    expect(pendingActionIdOf({ ref: 12, agentId: 'a' })).toBe('12');
    expect(() => pendingActionIdOf({ ticket: 't', agentId: 'a', action: { key: 'k' } })).toThrow(
      /ticket, agentId/,
    );
  });
});
