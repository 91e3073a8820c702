import { inSection } from '../requirement.ts';

/** The envelope, its codes, and what clients do about them. */
export const errors = inSection('Errors', [
  [
    'ERR-01',
    'MUST',
    ['one envelope', 'error.code'],
    'Every error is an envelope whose error.code is a string.',
  ],
  ['ERR-02', 'MUST', 'error.message', 'Every error has an error.message for people.'],
  ['ERR-03', 'MUST', 'error.details', 'Where an error has details, they are an array.'],
  [
    'ERR-04',
    'MUST',
    'VALIDATION_ERROR',
    'A request that fails validation is answered with the code `VALIDATION_ERROR`.',
  ],
  ['ERR-05', 'SHOULD', 'error.details', 'An error of validation has details.'],
  [
    'ERR-06',
    'SHOULD',
    'VALIDATION_ERROR',
    'An error of validation has a 4xx status other than 401 and 429, so that no client takes it for another error or repeats it.',
  ],
  ['ERR-07', 'OPEN', ['502', '503', '504'], 'Which gateway errors were met.'],
  [
    'ERR-08',
    'OPEN',
    ['status of VALIDATION_ERROR', 'shape of details', 'list of codes'],
    'Which codes were met, and with which status.',
  ],
  [
    'ERR-09',
    'MUST',
    'retry of 429',
    'The official client repeats after 429 when the time of Retry-After is over, not before.',
  ],
  [
    'ERR-10',
    'MUST',
    'retry of 502, 503, 504',
    'The official client repeats after 502, 503 and 504 with delays that grow exponentially and are jittered.',
  ],
]);
