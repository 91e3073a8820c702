import { inSection } from '../requirement.ts';

/** Requirements for pagination. */
export const lists = inSection('List endpoints', [
  ['LST-01', 'MUST', 'limit', 'A page has at most `limit` items.'],
  ['LST-02', 'SHOULD', 'limit', 'A page that is not the last has exactly `limit` items.'],
  [
    'LST-03',
    'MUST',
    ['cursor', '3', '1'],
    'Following nextCursor with the same limit returns every item of a list.',
  ],
  ['LST-04', 'MUST', ['cursor', '3'], 'Following nextCursor with the same limit returns no item twice.'],
  [
    'LST-05',
    'MUST',
    ['cursor is omitted for the first page', 'limit'],
    'The first page is returned without a cursor, with or without a limit.',
  ],
  [
    'LST-06',
    'MUST',
    ['Remaining detail: name of the array', 'What the service does: listed'],
    'A page has its items in an array with any name.',
  ],
  ['LST-07', 'OPEN', ['Remaining detail: name of the array'], 'Name of the array of items.'],
  [
    'LST-08',
    'OPEN',
    ['Remaining detail: query parameters'],
    'Handling of unknown or invalid query parameters.',
  ],
]);
