import { inSection } from '../requirement.ts';

/** Paging through lists. */
export const lists = inSection('List endpoints', [
  ['LST-01', 'MUST', 'limit', 'A page holds at most as many items as `limit` says.'],
  ['LST-02', 'SHOULD', 'limit', 'A page that is not the last holds as many items as `limit` says.'],
  [
    'LST-03',
    'MUST',
    ['cursor', '3', '1'],
    'Following nextCursor with the same limit shows every item of a list: none is left out.',
  ],
  ['LST-04', 'MUST', ['cursor', '3'], 'Following nextCursor with the same limit shows no item twice.'],
  [
    'LST-05',
    'MUST',
    ['cursor is omitted for the first page', 'limit'],
    'The first page is answered without a cursor, with a limit and without one.',
  ],
  [
    'LST-06',
    'MUST',
    ['Remaining detail: name of the array', 'What the service does: listed'],
    'A page holds its items in an array, whatever its name.',
  ],
  ['LST-07', 'OPEN', ['Remaining detail: name of the array'], 'What the array of items is called.'],
  [
    'LST-08',
    'OPEN',
    ['Remaining detail: query parameters'],
    'What becomes of query parameters that are not known or not valid.',
  ],
]);
