import { inSection } from '../requirement.ts';

/** Requirements for a page of results. */
export const page = inSection('Page of results', [
  ['PAG-01', 'MUST', 'nextCursor', 'Every page has a nextCursor, which is a string or null.'],
  [
    'PAG-02',
    'MUST',
    ['nextCursor is null at the end', 'List endpoints: 2'],
    'The last page of a list has null as its nextCursor, so that pagination ends.',
  ],
]);
