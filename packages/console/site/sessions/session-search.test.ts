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

test('keeps the exact span of a number that led to the list', () => {
  const query = 'risk=70&since=2026-11-20T10%3A00%3A00.000Z&until=2026-11-20T11%3A00%3A00.000Z';
  const search = readSearch(new URLSearchParams(query));
  expect(listQuery(search, now)).toEqual({
    minRiskScore: 70,
    // The bounds of the service are exclusive, and the span begins with its first moment.
    startedAfter: '2026-11-20T09:59:59.999Z',
    startedBefore: '2026-11-20T11:00:00.000Z',
  });
  expect(setFilters(search)).toMatchObject([{ fields: ['risk'] }, { fields: ['since', 'until'] }]);
  expect(setFilters(readSearch(new URLSearchParams('since=24h')))).toMatchObject([
    { words: 'of the last 24 hours' },
  ]);
});
