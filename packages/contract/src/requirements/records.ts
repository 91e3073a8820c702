import { inSection } from '../requirement.ts';

/** Sessions, agents, policies, pending actions and notification channels. */
export const records = inSection('Other resources', [
  [
    'RES-01',
    'MUST',
    'addressed by id',
    'A record is reached by its identifier in the path, and an identifier that nothing has reaches nothing.',
  ],
  [
    'RES-02',
    'SHOULD',
    'addressed by id',
    'An identifier with characters that a path must escape is reached when they are escaped.',
  ],
  ['RES-03', 'OPEN', 'fields', 'Which fields the records have.'],
]);
