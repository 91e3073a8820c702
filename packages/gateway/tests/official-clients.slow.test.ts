import { testOfficialClients } from './official-client-tests.ts';

testOfficialClients([
  ['stdio → stdio', 'v1'],
  ['stdio → stdio', 'v2'],
  ['stdio → HTTP', 'v1'],
  ['stdio → HTTP', 'v2'],
  ['HTTP → stdio', 'v1'],
  ['HTTP → stdio', 'v2'],
  ['HTTP → HTTP', 'v2'],
]);
