import { inSection } from '../requirement.ts';

/** Requirements for sessions, agents, policies, pending actions and notification channels. */
export const records = inSection('Other resources', [
  [
    'RES-01',
    'MUST',
    'addressed by id',
    'A record is addressed by its identifier in the path, and an unknown identifier returns no record.',
  ],
  [
    'RES-02',
    'SHOULD',
    'addressed by id',
    'An identifier with special characters works if they are escaped in the path.',
  ],
  ['RES-03', 'OPEN', 'fields', 'Fields of the records.'],
]);
