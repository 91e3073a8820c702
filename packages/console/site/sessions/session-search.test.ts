import { expect, test } from 'vitest';
import { listQuery, readSearch, searchWithout, setFilters } from './session-search.ts';

const now = new Date('2026-11-20T12:00:00Z');

test('reads a search from an address, and returns the parameters of the list', () => {
  const query = 'agent=a%26b&tool=pay&level=high&status=denied&id=x&risk=62.5&since=24h&order=risk';
  expect(listQuery(readSearch(new URLSearchParams(query)), now)).toEqual({
    agentId: 'a&b',
    toolName: 'pay',
    level: 'high',
    status: 'denied',
    idContains: 'x',
    minRiskScore: 62.5,
    startedAfter: '2026-11-19T12:00:00.000Z',
    sort: 'riskScore',
  });
  expect(listQuery(readSearch(new URLSearchParams()), now)).toEqual({});
});

test('ignores values that a list does not have', () => {
  const query = 'level=severe&status=odd&risk=many&since=ever&order=size&from=soon';
  expect(listQuery(readSearch(new URLSearchParams(query)), now)).toEqual({});
});

test('names the filters that are set, each with the search without it', () => {
  const search = readSearch(new URLSearchParams('tool=pay&from=2026-11-01&order=risk'));
  expect(setFilters(search)).toMatchObject([
    { words: 'that called “pay”', fields: ['tool'] },
    { words: 'started from 2026-11-01', fields: ['from', 'until'] },
  ]);
  expect(searchWithout(search, 'tool')).toMatchObject({ from: '2026-11-01', order: 'risk' });
  expect(searchWithout(search, 'tool')).not.toHaveProperty('tool');
});
