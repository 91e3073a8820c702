import { inSection } from '../requirement.ts';

/** Requirements for the envelope, its codes, and the reaction of clients. */
export const errors = inSection('Errors', [
  [
    'ERR-01',
    'MUST',
    ['one envelope', 'error.code'],
    'Every error is an envelope whose error.code is a string.',
  ],
  ['ERR-02', 'MUST', 'error.message', 'Every error has a human-readable error.message.'],
  ['ERR-03', 'MUST', 'error.details', 'If an error has details, they are an array.'],
  [
    'ERR-04',
    'MUST',
    'VALIDATION_ERROR',
    'A request that fails validation returns the code `VALIDATION_ERROR`.',
  ],
  ['ERR-05', 'SHOULD', 'error.details', 'A validation error has details.'],
  [
    'ERR-06',
    'SHOULD',
    'VALIDATION_ERROR',
    'A validation error has a 4xx status other than 401 and 429, so that clients neither misinterpret nor retry it.',
  ],
  ['ERR-07', 'OPEN', ['502', '503', '504'], 'Gateway errors that occurred.'],
  [
    'ERR-08',
    'OPEN',
    ['status of VALIDATION_ERROR', 'shape of details', 'list of codes'],
    'Codes that occurred, with their status.',
  ],
  [
    'ERR-09',
    'MUST',
    'retry of 429',
    'The official client retries a 429 after the delay of Retry-After, not before.',
  ],
  [
    'ERR-10',
    'MUST',
    'retry of 502, 503, 504',
    'The official client retries 502, 503 and 504 with exponentially growing, jittered delays.',
  ],
]);
